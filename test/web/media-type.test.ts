import { describe, expect, it } from 'vitest';
import { isAssetPath, isCompressible, mediaTypeOf, mediaTypeOfFile } from '../../src/web/media-type.ts';

describe('mediaTypeOf()', () => {
  it.each([
    ['index.html', 'text/html; charset=utf-8'],
    ['a/B.HTM', 'text/html; charset=utf-8'],
    ['a.xhtml', 'application/xhtml+xml; charset=utf-8'],
    ['a.css', 'text/css; charset=utf-8'],
    ['a.js', 'text/javascript; charset=utf-8'],
    ['a.mjs', 'text/javascript; charset=utf-8'],
    ['a.json', 'application/json; charset=utf-8'],
    ['a.js.map', 'application/json; charset=utf-8'],
    ['a.txt', 'text/plain; charset=utf-8'],
    ['a.svg', 'image/svg+xml; charset=utf-8'],
    ['sitemap.xml', 'application/xml; charset=utf-8'],
    ['a.md', 'text/markdown; charset=utf-8'],
    ['manifest.webmanifest', 'application/manifest+json; charset=utf-8'],
    ['example.d.ts', 'text/plain; charset=utf-8'],
    ['a.wasm', 'application/wasm'],
    ['a.woff2', 'font/woff2'],
    ['a.png', 'image/png'],
    ['a.pdf', 'application/pdf'],
    ['en_1a2b3c4.pf_fragment', 'application/octet-stream'],
    ['folder.html/CNAME', 'text/plain; charset=utf-8'],
    ['a.tar.gz', 'application/gzip'],
    ['a.tgz', 'application/gzip'],
    ['a.tar.bz2', 'application/x-bzip2'],
    ['a.tbz2', 'application/x-bzip2'],
    ['a.tar.xz', 'application/x-xz'],
    ['a.txz', 'application/x-xz'],
    ['a.tar.zst', 'application/zstd'],
    ['a.tar', 'application/x-tar'],
    ['a.zip', 'application/zip'],
    ['a.7z', 'application/x-7z-compressed'],
    ['a.jar', 'application/java-archive'],
    ['docshelf-1.0-py3-none-any.whl', 'application/zip'],
    ['a.csv', 'text/csv; charset=utf-8'],
    ['a.yaml', 'text/yaml; charset=utf-8'],
    ['a.cjs', 'text/javascript; charset=utf-8'],
    ['a.vtt', 'text/vtt; charset=utf-8'],
    ['a.geojson', 'application/geo+json; charset=utf-8'],
    ['folder/data', 'application/octet-stream'],
    ['Profile', 'application/octet-stream'],
    ['a.dat', 'application/octet-stream'],
    ['objects.inv', 'application/octet-stream'],
    ['.html', 'application/octet-stream'],
    ['css/style.css?v=1.2', 'text/css; charset=utf-8'],
    ['page.php?id=1.html', 'text/html; charset=utf-8'],
    ['what.css?/data', 'application/octet-stream'],
  ])('returns for the file %s the media type %s', (path, type) => {
    expect(mediaTypeOf(path)).toBe(type);
  });

  it.each(
    'a.py a.go a.rs a.proto a.graphql a.diff a.patch a.bib prod.env a.jsonl a.ndjson a.toml a.ini a.sh a.conf a.cfg a.rb a.kt a.swift a.cs a.hs a.ex a.sql a.tf a.dot a.pot a.mmd a.php a.bat a.ps1 a.lock a.tex go.mod go.sum A.PY LICENSE LICENSE-MIT README sub/NOTICE CHANGELOG Makefile Dockerfile Jenkinsfile VERSION'.split(
      ' ',
    ),
  )('returns a text type for the file %s', (path) => {
    expect(mediaTypeOf(path)).toBe('text/plain; charset=utf-8');
  });

  it('adds the given charset to text types only', () => {
    expect(mediaTypeOf('a.html', 'shift_jis')).toBe('text/html; charset=shift_jis');
    expect(mediaTypeOf('a.png', 'shift_jis')).toBe('image/png');
  });
});

describe('mediaTypeOfFile()', () => {
  const bytes = (text: string) => Buffer.from(text, 'latin1');

  it('reads the declared charset from HTML and SVG, but not from scripts', () => {
    expect(mediaTypeOfFile('a.html', bytes('<meta charset=EUC-JP>'))).toBe('text/html; charset=euc-jp');
    expect(mediaTypeOfFile('a.svg', bytes('<?xml version="1.0" encoding="iso-8859-1"?><svg/>'))).toBe(
      'image/svg+xml; charset=windows-1252',
    );
    expect(mediaTypeOfFile('a.js', bytes('"<meta charset=EUC-JP>"'))).toBe('text/javascript; charset=utf-8');
  });
});

describe('isAssetPath()', () => {
  it.each(['a.js', 'a/b.css', 'x.png', 'data.json', 'page.txt', 'a.js.map'])('returns true for the path %s', (path) => {
    expect(isAssetPath(path)).toBe(true);
  });

  it.each([
    '',
    'guide',
    'guide/',
    'api/os.path.go',
    'a.env',
    'LICENSE',
    'docs/v1.2',
    'a.html',
    'api/Foo.bar',
    'js/',
    'a.js/',
  ])('returns false for the path %s', (path) => {
    expect(isAssetPath(path)).toBe(false);
  });
});

describe('isCompressible()', () => {
  const text = Buffer.from('plain text');

  it.each([
    ['text/html; charset=utf-8', true],
    ['image/svg+xml; charset=utf-8', true],
    ['application/json', true],
    ['application/wasm', true],
    ['font/ttf', true],
    ['font/woff2', false],
    ['image/png', false],
    ['application/octet-stream', false],
    ['video/mp4', false],
  ])('returns for the media type %s the value %s', (type, expected) => {
    expect(isCompressible(type, text)).toBe(expected);
  });

  it.each([
    ['gzip', [0x1f, 0x8b, 8]],
    ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
    ['zip', [0x50, 0x4b, 3, 4]],
    ['WOFF2', [0x77, 0x4f, 0x46, 0x32]],
  ])('returns false for %s bytes, even if the declared type is text/javascript', (_name, head) => {
    expect(isCompressible('text/javascript', Uint8Array.from(head))).toBe(false);
  });

  it('returns true if there are no bytes to check', () => {
    expect(isCompressible('text/css', new Uint8Array())).toBe(true);
  });
});
