import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { init, parse } from 'es-module-lexer';
import { describe, expect, test } from 'vitest';
import { PROGRAM } from '../helpers/program.ts';

const DIST = dirname(PROGRAM);
const OUTSIDE = ['onnxruntime-node', 'playwright-core'];

describe('the built program', () => {
  test('has every package that it imports, but for the two beside it', async () => {
    await init;
    const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.js') && !file.includes('assets/'),
    );
    const imported = files.flatMap((file) => {
      const [imports] = parse(readFileSync(join(DIST, file), 'utf8'));
      return imports.flatMap(({ specifier }) => (specifier == null ? [] : [{ file, name: specifier }]));
    });
    const relative = imported.filter(({ name }) => name.startsWith('.'));
    expect(relative.filter(({ file, name }) => !existsSync(join(DIST, dirname(file), name)))).toEqual([]);
    const packages = imported.map(({ name }) => name).filter((name) => !/^(?:\.|node:)/.test(name));
    expect([...new Set(packages)].filter((name) => !builtinModules.includes(name)).sort()).toEqual(OUTSIDE);
  });

  test('carries the licences of the packages that it has', () => {
    const texts = readFileSync(join(DIST, 'licenses.txt'), 'utf8');
    const told = Array.from(
      texts.matchAll(/^(@?[\w./-]+) \d+\.\d+\.\d+\S*\nLicence: (.+)$/gm),
      ([, name, licence]) => ({
        name,
        licence,
      }),
    );
    expect(told.map(({ name }) => name)).toEqual(expect.arrayContaining(['hono', 'pino', 'undici', 'yaml']));
    const allowed = /^(?:MIT|ISC|BSD-[23]-Clause|0BSD|Apache-2\.0|BlueOak-1\.0\.0|Unlicense)$/;
    expect(told.filter(({ licence = '' }) => !allowed.test(licence))).toEqual([]);
    expect(texts).toContain('Permission is hereby granted, free of charge');
  });
});
