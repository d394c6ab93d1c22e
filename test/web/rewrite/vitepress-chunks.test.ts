import { describe, expect, it } from 'vitest';
import { findReferences } from '../../../src/web/rewrite/find-references.ts';

const DATA = String.raw`window.__VP_HASH_MAP__=JSON.parse("{\"guide_a.md\":\"D6M2pbQd\",\"a_[b]_c.md\":\"CX-w_gKQ\",\"../x.md\":\"a\",\"n.md\":1}");window.__VP_SITE_DATA__=JSON.parse("{\"title\":\"T\",\"description\":\"\\\"base\\\":\\\"/no/\\\"\",\"base\":\"/docs/\",\"x\":{\"base\":\"/y/\"}}");`;

function mentions(type: 'html' | 'script', text: string, path: string): string[] {
  const found = findReferences({ type, bytes: Buffer.from(text), path });
  return found.references.filter(({ kind }) => kind === 'mention').map(({ url }) => url);
}

describe('findReferences() in data of VitePress', () => {
  it('returns the scripts of all pages if a separate file contains the list of pages', () => {
    expect(mentions('script', DATA, '/docs/assets/chunks/metadata.js')).toEqual([
      '/docs/hashmap.json',
      '/docs/assets/guide_a.md.D6M2pbQd.js',
      '/docs/assets/guide_a.md.D6M2pbQd.lean.js',
      '/docs/assets/a_[b]_c.md.CX-w_gKQ.js',
      '/docs/assets/a_[b]_c.md.CX-w_gKQ.lean.js',
    ]);
  });

  it('returns only hashmap.json, the hash map of the pages, if each page contains the list of pages', () => {
    expect(mentions('html', `<script>${DATA}</script>`, '/docs/guide/a')).toEqual(['/docs/hashmap.json']);
  });

  it.each([
    'window.__VP_HASH_MAP__=JSON.parse("{")',
    'window.__VP_HASH_MAP__=JSON.parse(x)',
    'window.__VP_HASH_MAP__=JSON.parse("[1]")',
  ])('returns no pages for %s', (script) => {
    expect(mentions('script', script, '/assets/chunks/metadata.js')).toEqual(['/hashmap.json']);
  });
});
