import { describe, expect, it } from 'vitest';
import { negotiateEncoding } from '../../src/site/encoding.ts';

describe('negotiateEncoding()', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP;Q=1.0, BR;Q=0.5', 'gzip'],
    ['gzip;q=0.5, br;q=0.5', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['*;q=0.1, br;q=0', 'gzip'],
    ['gzip, *;q=0', 'gzip'],
    ['identity', 'identity'],
    ['identity, gzip;q=0.5', 'identity'],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['identity;q=0', 'identity'],
    ['deflate, zstd', 'zstd'],
    ['gzip, zstd', 'zstd'],
    ['gzip, zstd;q=0.5', 'gzip'],
    ['br;q=0.9, zstd', 'zstd'],
    ['zstd;q=0.5, identity', 'identity'],
    ['deflate, compress', 'identity'],
    ['br;q=nonsense', 'identity'],
    ['br;q=2', 'identity'],
    [' br ; q=0.001 ', 'br'],
    [',,', 'identity'],
  ])('selects for the Accept-Encoding header %s the encoding %s', (accept, encoding) => {
    expect(negotiateEncoding(accept)).toBe(encoding);
  });
});
