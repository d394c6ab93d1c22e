import { describe, expect, it } from 'vitest';
import { ExtractedFiles, ListingBuilder } from '../../src/archive/listing.ts';
import { BundleManifest, checkManifestSize } from '../../src/archive/manifest.ts';
import { refusalsOf } from '../../src/archive/rules.ts';
import { ARCHIVE_LIMITS } from '../../src/domain/limits.ts';
import { parseManifest, type WholeManifest } from '../helpers/manifests.ts';

const digest = (digit: string) => digit.repeat(64);
const PAGE = { path: 'index.html', size: 3, sha256: digest('a'), type: 'text/html; charset=utf-8' };
const SCRIPT = { path: 'app.js', size: 4, sha256: digest('b'), type: 'text/javascript' };
const good: WholeManifest = {
  formatVersion: 1,
  domain: 'acme',
  version: null,
  createdAt: '2024-06-01T00:00:00.000Z',
  generator: 'docshelf 0.1.0',
  pageCount: 1,
  files: [PAGE, SCRIPT],
};
const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));
const manifestFile = { path: '_docshelf/manifest.json', size: 9, sha256: digest('c') };
const badManifest = expect.objectContaining({ code: 'bad_manifest' });

describe('ManifestReader (reads a bundle manifest in parts)', () => {
  const awkward = {
    ...good,
    generator: 'a "files":[ } ] \\',
    later: { files: [{ path: 1 }], deep: [[{}], ']'] },
    files: [{ ...PAGE, path: 'a"b\\{[}].html', later: [{ x: '}]' }] }, SCRIPT],
  };

  it.each([1, 2, 3, 7, 10_000])('reads a manifest that arrives in parts of %i bytes', (bytes) => {
    expect(parseManifest(bytesOf(good), 'x', bytes)).toEqual(good);
    expect(parseManifest(bytesOf(awkward), 'x', bytes)).toEqual(awkward);
    expect(parseManifest(Buffer.from(JSON.stringify(good, null, '\t\r\n ')), 'x', bytes)).toEqual(good);
  });

  const text = JSON.stringify(good);
  it.each([
    ['text that is not JSON', Buffer.from('{')],
    ['text that is not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['null', bytesOf(null)],
    ['a newer format', bytesOf({ ...good, formatVersion: 2 })],
    ['a manifest without a domain', bytesOf({ ...good, domain: undefined })],
    ['a manifest without files', bytesOf({ ...good, files: undefined })],
    ['files that are not a list', bytesOf({ ...good, files: {} })],
    ['a file that is not an object', bytesOf({ ...good, files: [PAGE, 5] })],
    ['an extra comma', Buffer.from(text.replace('},{', '},,{'))],
    ['a trailing comma', Buffer.from(text.replace('}]', '},]'))],
    ['a missing comma', Buffer.from(text.replace('},{', '}{'))],
    ['text after the manifest', Buffer.from(`${text}{}`)],
    ['two lists of files', Buffer.from(text.replace('"files":', '"files":[],"files":'))],
    ['a list under an escaped name', Buffer.from(text.replace('"files":', '"fil\\u0065s":'))],
    ['an end in the middle of a file', Buffer.from(text.slice(0, -10))],
    ['an end between files', Buffer.from(text.slice(0, text.indexOf('},{') + 2))],
    ['an invalid version', bytesOf({ ...good, version: '../x' })],
    ['an invalid time', bytesOf({ ...good, createdAt: 'yesterday' })],
    ['an invalid digest', bytesOf({ ...good, files: [{ ...PAGE, sha256: 'x' }] })],
    ['a type that breaks a header', bytesOf({ ...good, files: [{ ...PAGE, type: 'text/html\r\nX: y' }] })],
    ['a number in two parts', Buffer.from(text.replace('{', '{"later":1 2,'))],
    ['more than 64 KiB before its files', bytesOf({ later: 'x'.repeat(65_536), ...good })],
    ['a file entry of more than 32 KiB', bytesOf({ ...good, files: [{ ...PAGE, later: 'x'.repeat(32_768) }] })],
  ])('rejects an invalid manifest: %s', (_case, bytes) => {
    expect(() => parseManifest(bytes, 'x')).toThrow(badManifest);
  });

  it('suggests an update for a newer format, whatever the rest of the manifest contains', () => {
    for (const files of [good.files, [{ name: 'x' }]]) {
      expect(() => parseManifest(bytesOf({ ...good, formatVersion: 2, files }), 'x')).toThrow(
        expect.objectContaining({ next: expect.stringContaining('Install') }),
      );
    }
  });

  it('throws an error that contains the position of the invalid value', () => {
    expect(() => parseManifest(bytesOf({ ...good, files: [PAGE, { ...SCRIPT, size: -1 }] }), 'x')).toThrow(
      expect.objectContaining({ message: expect.stringContaining('/files/1/size must be >= 0') }),
    );
  });

  it('throws an error that contains the position of a file entry without a required value', () => {
    const { type, ...untyped } = SCRIPT;
    expect(() => parseManifest(bytesOf({ ...good, files: [PAGE, untyped] }), 'x')).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/: \/files\/1 must have required property 'type'$/) }),
    );
  });
});

describe('checkManifestSize()', () => {
  const check = (name: string) => {
    const builder = new ListingBuilder(refusalsOf('x'), ARCHIVE_LIMITS, false);
    for (const each of ['index.html', name]) builder.add({ name: each, kind: 'file', size: 100_000 });
    checkManifestSize(builder.finish('tar', 0), 'x');
  };

  it('rejects a manifest that is too large for the number of files in the archive', () => {
    expect(() => check('_docshelf/manifest.json')).toThrow(badManifest);
    expect(() => check('manifest.json')).not.toThrow();
  });
});

describe('BundleManifest (comparison of a manifest with its archive)', () => {
  type File = Readonly<{ path: string; size: number; sha256: string }>;

  function check(manifest: WholeManifest, files: readonly File[], launchers: readonly string[] = []) {
    const builder = new ListingBuilder(refusalsOf('x'), ARCHIVE_LIMITS, false);
    for (const { path, size } of files) builder.add({ name: path, kind: 'file', size });
    for (const name of launchers) builder.add({ name, kind: 'file', size: 0 });
    const listing = builder.finish('tar', 0);
    const extracted = new ExtractedFiles(listing);
    for (const { path, sha256 } of files) extracted.add(listing.entries.indexOf(path), sha256);
    const bundle = new BundleManifest(listing, 'x');
    bundle.push(bytesOf(manifest));
    bundle.check(extracted);
    return (path: string) => bundle.typeOf(listing.entries.indexOf(path));
  }

  it('accepts files that match the manifest, and returns their content types', () => {
    const typeOf = check(good, [SCRIPT, manifestFile, PAGE]);
    expect([PAGE, SCRIPT, manifestFile].map(({ path }) => typeOf(path))).toEqual([PAGE.type, SCRIPT.type, undefined]);
  });

  it.each<[string, readonly File[], string]>([
    ['a missing file', [PAGE], '"app.js" is missing'],
    ['an extra file', [PAGE, SCRIPT, { ...SCRIPT, path: 'extra.js' }], '"extra.js" is not listed'],
    ['an extra file of docshelf', [PAGE, SCRIPT, { ...SCRIPT, path: '_docshelf/extra' }], '"_docshelf/extra" is not'],
    ['a wrong size', [PAGE, { ...SCRIPT, size: 5 }], '"app.js" has 5 bytes, not 4'],
    ['a wrong digest', [PAGE, { ...SCRIPT, sha256: digest('d') }], '"app.js" has other content'],
  ])('rejects an archive whose files do not match the manifest: %s', (_case, files, message) => {
    expect(() => check(good, files)).toThrow(
      expect.objectContaining({ code: 'manifest_mismatch', message: expect.stringContaining(message) }),
    );
  });

  it('rejects a manifest that lists itself or a launcher, because docshelf does not unpack these files', () => {
    const launcher = { ...SCRIPT, path: 'Start Docs.bat', size: 0 };
    for (const file of [{ ...SCRIPT, ...manifestFile }, launcher]) {
      expect(() =>
        check({ ...good, files: [PAGE, SCRIPT, file] }, [PAGE, SCRIPT, manifestFile], [launcher.path]),
      ).toThrow(expect.objectContaining({ code: 'manifest_mismatch' }));
    }
  });

  it('rejects a wrong number of pages', () => {
    expect(() => check({ ...good, pageCount: 2 }, [PAGE, SCRIPT])).toThrow(
      expect.objectContaining({ code: 'manifest_mismatch' }),
    );
  });

  it('rejects a file that is listed twice, and more than 1,000 types', () => {
    expect(() => check({ ...good, files: [PAGE, PAGE] }, [PAGE])).toThrow(badManifest);
    const files = Array.from({ length: 1001 }, (_, n) => ({ ...SCRIPT, path: `${n}.js`, type: `text/${n}` }));
    expect(() => check({ ...good, pageCount: 0, files }, files)).toThrow(badManifest);
  });

  it('names five differences, and states the number of the other differences', () => {
    const files = Array.from({ length: 9 }, (_, n) => ({ ...SCRIPT, path: `${n}.js` }));
    expect(() => check({ ...good, pageCount: 0 }, files)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/; and 6 more$/), fields: { differences: 11 } }),
    );
  });
});
