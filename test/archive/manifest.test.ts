import { describe, expect, it } from 'vitest';
import { type BundleManifest, checkManifest, parseManifest } from '../../src/archive/manifest.ts';

const digest = (digit: string) => digit.repeat(64);
const good: BundleManifest = {
  formatVersion: 1,
  domain: 'acme',
  version: null,
  createdAt: '2024-06-01T00:00:00.000Z',
  generator: 'docshelf 0.1.0',
  pageCount: 1,
  files: [
    { path: 'index.html', size: 3, sha256: digest('a'), type: 'text/html; charset=utf-8' },
    { path: 'app.js', size: 4, sha256: digest('b'), type: 'text/javascript' },
  ],
};
const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));
const extracted = good.files.map(({ path, size, sha256 }) => ({ path, size, sha256 }));
const manifestFile = { path: '_docshelf/manifest.json', size: 9, sha256: digest('c') };

describe('parseManifest()', () => {
  it('reads a manifest', () => {
    expect(parseManifest(bytesOf(good), 'x')).toEqual(good);
  });

  it.each([
    ['no JSON', Buffer.from('{')],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['null', bytesOf(null)],
    ['a newer format', bytesOf({ ...good, formatVersion: 2 })],
    ['no domain', bytesOf({ ...good, domain: undefined })],
    ['a version that is no label', bytesOf({ ...good, version: '../x' })],
    ['a time that is none', bytesOf({ ...good, createdAt: 'yesterday' })],
    ['a digest that is none', bytesOf({ ...good, files: [{ ...good.files[0], sha256: 'x' }] })],
    ['a type that breaks a header', bytesOf({ ...good, files: [{ ...good.files[0], type: 'text/html\r\nX: y' }] })],
    ['a file twice', bytesOf({ ...good, files: [good.files[0], good.files[0]] })],
  ])('refuses %s', (_case, bytes) => {
    expect(() => parseManifest(bytes, 'x')).toThrow(expect.objectContaining({ code: 'bad_manifest' }));
  });

  it('says what to do about a newer format', () => {
    expect(() => parseManifest(bytesOf({ ...good, formatVersion: 2 }), 'x')).toThrow(
      expect.objectContaining({ next: expect.stringContaining('Install') }),
    );
  });
});

describe('checkManifest()', () => {
  it('passes what the manifest says, itself not listed', () => {
    expect(() => checkManifest(good, [...extracted, manifestFile], 'x')).not.toThrow();
  });

  const [page, script] = extracted;
  if (!page || !script) throw new Error('the fixture has two files');
  it.each([
    ['a missing file', [page]],
    ['an extra file', [...extracted, { ...script, path: 'extra.js' }]],
    ['an extra file of docshelf', [...extracted, { ...script, path: '_docshelf/extra' }]],
    ['another size', [page, { ...script, size: 5 }]],
    ['another digest', [page, { ...script, sha256: digest('d') }]],
  ])('refuses %s', (_case, files) => {
    expect(() => checkManifest(good, files, 'x')).toThrow(expect.objectContaining({ code: 'manifest_mismatch' }));
  });

  it('refuses another number of pages', () => {
    expect(() => checkManifest({ ...good, pageCount: 2 }, extracted, 'x')).toThrow(
      expect.objectContaining({ code: 'manifest_mismatch' }),
    );
  });
});
