import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { types } from 'mime-types';
import { describe, expect, it } from 'vitest';
import { isTextType, mediaTypeOf } from '../../../src/web/media-type.ts';
import { hasNginx, whyNoNginx } from './nginx.ts';

/** Extensions whose registered type differs from their use in documentation. */
const OTHER_THAN_REGISTERED = {
  'text/plain':
    'ac asc bat cu dart dot latex mmd mts org php pl pm pot raml rs scm sh sql tcl tex toml tpl ts wgsl'.split(' '),
  'text/javascript': ['cjs'],
};

/** Extensions whose type in nginx differs from docshelf's. */
const OTHER_THAN_NGINX: Readonly<Record<string, string>> = {
  xml: 'RFC 7303, section 9.2: the two are one',
  js: 'RFC 9239: text/javascript',
  ico: 'registered',
  bmp: 'RFC 7903',
  rar: 'registered',
  m4a: 'registered',
  ra: 'the older name of the same',
  prc: 'the registry has another format of that name',
  pdb: 'registered',
  ...Object.fromEntries(['pl', 'pm', 'tcl', 'ts'].map((name) => [name, 'a text that is read'])),
  ...Object.fromEntries(['exe', 'dll', 'deb', 'dmg', 'iso', 'msi'].map((name) => [name, 'a type of its own'])),
};

const essence = (type: string): string => type.replace(/;.*/, '');
const typeOf = (extension: string): string => mediaTypeOf(`a.${extension}`);

describe('Content-Type for the file extensions in the MIME registry', () => {
  const extensions = Object.keys(types);

  it('is the registered type, except for the extensions that this test lists', () => {
    expect(extensions.length).toBeGreaterThan(1000);
    const others: Record<string, string[]> = {};
    for (const extension of extensions.toSorted()) {
      const type = essence(typeOf(extension));
      if (type === types[extension]) continue;
      others[type] ??= [];
      others[type].push(extension);
    }
    expect(others).toEqual(OTHER_THAN_REGISTERED);
  });

  it('is HTML, XHTML, CSS, JavaScript or WebAssembly only for the extensions that this test lists', () => {
    const named = (pattern: RegExp) =>
      extensions.filter((extension) => pattern.test(essence(typeOf(extension)))).sort();
    expect(named(/^text\/html$/)).toEqual(['htm', 'html', 'shtml']);
    expect(named(/javascript|ecmascript/)).toEqual(['cjs', 'ecma', 'js', 'mjs']);
    expect(named(/^text\/css$/)).toEqual(['css']);
    expect(named(/^application\/xhtml\+xml$/)).toEqual(['xht', 'xhtml']);
    expect(named(/^application\/wasm$/)).toEqual(['wasm']);
  });

  it('contains a charset for text types only', () => {
    const wrong = extensions.filter(
      (extension) => isTextType(typeOf(extension)) !== typeOf(extension).includes('charset=utf-8'),
    );
    expect(wrong).toEqual([]);
    expect(
      extensions.filter((extension) => /^text\//.test(typeOf(extension)) && !isTextType(typeOf(extension))),
    ).toEqual([]);
  });

  it.skipIf(!hasNginx)(
    `is the type that nginx sends, except for the extensions that this test lists${whyNoNginx}`,
    () => {
      const [, config = ''] = /--conf-path=(\S+)/.exec(spawnSync('nginx', ['-V']).stderr.toString()) ?? [];
      const list = readFileSync(join(dirname(config), 'mime.types'), 'utf8').replace(/#.*/g, '');
      const lines = [...list.matchAll(/^\s*(\S+\/\S+)\s+([^;]+);/gm)];
      const others = lines.flatMap(([, type = '', names = '']) =>
        names
          .trim()
          .split(/\s+/)
          .filter((name) => essence(typeOf(name)) !== type && !(name in OTHER_THAN_NGINX)),
      );
      expect(lines.length).toBeGreaterThan(50);
      expect(others).toEqual([]);
    },
  );
});
