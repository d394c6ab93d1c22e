import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectBytes, releases, serve, sha256, summary } from './helpers.ts';

const FILLER = '<p>all work and no play</p>'.repeat(100);
const TAG = '<script type="module" src="/docs/_docshelf/a.js"></script>';
const NOTICE = '<p>old</p>';
const page = (head = '', body = '', base = '/') =>
  `<!doctype html><title>a</title>${head}<a href="${base}b">${FILLER}${body}`;
const SENT = page(TAG, NOTICE);
const additions = { head: [TAG], body: [NOTICE] };
const etagOf = (text: string) => `"${sha256(text).slice(0, 32)}"`;

describe('site with docshelf additions in its pages', () => {
  it('computes ETag, ranges, encodings and HEAD from the changed bytes, even for the first request', async () => {
    const fresh = (cacheBytes = 1024 ** 2) => serve([releases.make({ 'a.html': page() })], { additions, cacheBytes });
    await expectBytes('/a', SENT, fresh);
    expect((await fresh().send('/a', { 'if-none-match': etagOf(page()) })).status).toBe(200);
  });

  it('returns a prepared response after the first requests, without reading the file', async () => {
    const release = releases.make({ 'a.html': page(), '404.html': page() });
    const { send, server } = serve([release], { additions });
    expect(server.fastAnswer('/a', {})).toBeNull();
    await send('/a');
    await send('/a');
    expect(await (await send('/nowhere')).text()).toBe(SENT);
    rmSync(join(release.siteDir, 'a.html'));
    expect(server.fastAnswer('/a', {})).toMatchObject({ status: 200, body: Buffer.from(SENT) });
    expect(server.fastAnswer('/a', { 'if-none-match': etagOf(SENT) })?.status).toBe(304);
  });

  it('inserts additions after it rewrites a page for a base path, and into pages that spaFallback serves', async () => {
    const mounted = serve([releases.make({ 'a.html': page() })], { additions, basePath: '/docs/' });
    expect(await (await mounted.send('/a')).text()).toBe(page(TAG, NOTICE, '/docs/'));
    const fallback = serve([releases.make({ 'index.html': page() })], { additions, spaFallback: true });
    expect(await (await fallback.send('/no/file')).text()).toBe(SENT);
  });

  it('inserts the additions for one page after the additions for all pages', async () => {
    const { send } = serve([releases.make({ 'a.html': page(), 'b.html': page() })], {
      additions: { head: [TAG], body: [] },
      additionsOf: async (path) => ({ head: path === 'a.html' ? ['<link rel="canonical" href="/x">'] : [], body: [] }),
    });
    expect(await (await send('/a')).text()).toBe(page(`${TAG}<link rel="canonical" href="/x">`));
    expect(await (await send('/b')).text()).toBe(page(TAG));
  });

  it('does not change other files, XHTML pages and pages that are too large', async () => {
    const large = `${page()}${' '.repeat(8 * 1024 ** 2)}`;
    const files = { 'a.css': 'a{}', 'a.svg': '<svg/>', 'a.xhtml': page(), 'menu.html': '<li>a', 'large.html': large };
    const { send } = serve([releases.make(files)], { additions });
    for (const [path, text] of Object.entries(files)) {
      expect(await summary(await send(`/${path}`), 'etag'), path).toEqual([200, etagOf(text), text]);
    }
  });

  it('inserts additions into a page of 4 MiB in another thread', async () => {
    const large = `${page('', '</body>')}${'<i>a</i>'.repeat(512 * 1024)}`;
    const { send } = serve([releases.make({ 'a.html': large })], { additions });
    expect((await (await send('/a')).text()).length).toBe(large.length + TAG.length + NOTICE.length);
  });

  it('does not mark pages as immutable', async () => {
    const { send } = serve([releases.make({ 'a.5b0e4cfb.html': page() })], { additions });
    expect((await send('/a.5b0e4cfb.html')).headers.get('cache-control')).toBe('no-cache');
  });

  it('responds with 503 if the page cannot be read', async () => {
    const release = releases.make({ 'a.html': page() });
    rmSync(join(release.siteDir, 'a.html'));
    expect((await serve([release], { additions }).send('/a')).status).toBe(503);
  });
});
