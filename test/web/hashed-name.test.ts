import { describe, expect, it } from 'vitest';
import { hashedName } from '../../src/web/index.ts';

describe('hashedName()', () => {
  it.each([
    ['styles.5b0e4cfb.css', 'eight hex digits'],
    ['img/logo-35E13CBE46c9.png', 'hex in either case, set off by a dash'],
    ['_next/static/chunks/0c5c47ac3b2e8d6f.js', 'the whole stem'],
    ['font_a1b2c3d4.woff2', 'set off by an underscore'],
    ['app.C03MqXtg.lean.js', 'base64url'],
    ['app-Dk3JxaBq.js', 'base64url, set off by a dash'],
    ['es_search.md.BC0T6_x2.js', 'base64url that holds an underscore'],
    ['es_search.md.B-0Tx62a.js', 'base64url that holds a dash'],
    ['a1b2c3d4', 'no extension'],
  ])('%s: %s', (path) => {
    expect(hashedName(path)).toBe(true);
  });

  it.each([
    ['x-introduction.css', 'a word'],
    ['app.js', 'nothing'],
    ['report-20240601.pdf', 'digits only'],
    ['cafe-deadbeef.js', 'hex letters only'],
    ['a.5b0e4cf.js', 'seven digits'],
    ['app.CKgyzEfF.js', 'no digit'],
    ['app.ckgyz3ff.js', 'neither hex nor both cases'],
    ['v1.Getting-Started-2.png', 'words with dashes between dots'],
    ['Getting-Started-2.png', 'words with dashes'],
    ['5b0e4cfb/app.js', 'a hash in the folder only'],
    ['styles.5b0e4cfb.html', 'a page'],
    ['styles.5b0e4cfb.XHTML', 'a page in capitals'],
    ['xx5b0e4cfbyy.js', 'not set off'],
    ['', 'an empty path'],
  ])('not %s: %s', (path) => {
    expect(hashedName(path)).toBe(false);
  });
});
