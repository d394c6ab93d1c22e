import { describe, expect, it } from 'vitest';
import { resolveSpecifier } from '../../../src/web/rewrite/resolve-specifier.ts';

const FILE = 'https://x.test/lib/a.js';
const MAP = JSON.stringify({
  imports: {
    vue: './vue.js',
    'kit/': '/kit/',
    'kit/special/': 'https://cdn.test/s/',
    '/lib/b.js': '/lib/b-1.js',
    bad: 'none',
  },
  scopes: { '/lib/': { vue: '/lib/vue.js' }, '/lib/deep/': { vue: '/deep.js' } },
});

describe('resolveSpecifier()', () => {
  it.each([
    ['./b.js', [], 'https://x.test/lib/b.js', false],
    ['/c.js', [], 'https://x.test/c.js', false],
    ['https://cdn.test/d.js', [], 'https://cdn.test/d.js', false],
    ['vue', [MAP], 'https://x.test/lib/vue.js', true],
    ['kit/a.js', [MAP], 'https://x.test/kit/a.js', true],
    ['kit/special/a.js', [MAP], 'https://cdn.test/s/a.js', true],
    ['./b.js', [MAP], 'https://x.test/lib/b-1.js', true],
    ['vue', ['no JSON', '{"imports":{"vue":7}}', MAP], 'https://x.test/lib/vue.js', true],
  ])('resolves %s with import maps %j to %s', (specifier, maps, url, isMapped) => {
    expect(resolveSpecifier(specifier, FILE, maps)).toEqual({ url, isMapped });
  });

  it('resolves addresses of an import map, and prefers the narrowest scope', () => {
    expect(resolveSpecifier('vue', 'https://x.test/other.js', [MAP])?.url).toBe('https://x.test/vue.js');
    expect(resolveSpecifier('vue', 'https://x.test/lib/deep/a.js', [MAP])?.url).toBe('https://x.test/deep.js');
  });

  it.each(['react', 'bad'])('returns null for the unmapped specifier %s', (specifier) => {
    expect(resolveSpecifier(specifier, FILE, [MAP])).toBeNull();
  });
});
