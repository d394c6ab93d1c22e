import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SiteSnapshot } from '../../src/site/index.ts';
import { expectBytes, releases, serve } from './helpers.ts';

const FILLER = '<p>all work and no play</p>'.repeat(100);
const PAGE = `<a href="/b">${FILLER}`;
const MOUNTED = `<a href="/docs/b">${FILLER}`;
const AT = { basePath: '/docs/' };

describe('site served at another base path than it was built for', () => {
  it('rewrites the links of its pages, and computes ETag, ranges, encodings and HEAD from the rewritten bytes', async () => {
    await expectBytes('/a', MOUNTED, (cacheBytes) => serve([releases.make({ 'a.html': PAGE })], { ...AT, cacheBytes }));
  });

  it.each([
    [
      'windows-1252',
      Buffer.from('<meta charset=windows-1252><a href="/b">\xe9', 'latin1'),
      '<meta charset=utf-8><a href="/docs/b">é',
    ],
    [
      'shift_jis',
      Buffer.from('<meta charset=shift_jis><a href="/b">\x95\x5c', 'latin1'),
      '<meta charset=utf-8><a href="/docs/b">表',
    ],
    ['utf-16le', Buffer.from('\ufeff<a href="/b">é', 'utf16le'), '<a href="/docs/b">é'],
  ])('sends a rewritten page in %s as UTF-8, and unchanged pages in their charset', async (charset, bytes, text) => {
    const plain = Buffer.from('<meta charset=windows-1252>\xe9', 'latin1');
    const { send } = serve([releases.make({ 'a.html': bytes, 'c.html': plain })], AT);
    const page = await send('/a');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(Buffer.from(await page.arrayBuffer()).toString()).toBe(`\ufeff${text}`);
    const other = await send('/c');
    expect(other.headers.get('content-type')).toBe('text/html; charset=windows-1252');
    expect(Buffer.from(await other.arrayBuffer())).toEqual(plain);
    const atRoot = await serve([releases.make({ 'a.html': bytes })]).send('/a');
    expect(atRoot.headers.get('content-type')).toBe(`text/html; charset=${charset}`);
    expect(Buffer.from(await atRoot.arrayBuffer())).toEqual(bytes);
  });

  it('responds from memory to the second request for a page', async () => {
    const hits: boolean[] = [];
    const release = releases.make({ 'a.html': PAGE });
    const { send } = serve([release], { ...AT, events: { onCache: (isHit) => hits.push(isHit) } });
    await send('/a');
    rmSync(join(release.siteDir, 'a.html'));
    expect(await (await send('/a')).text()).toBe(MOUNTED);
    expect(hits.at(-1)).toBe(true);
  });

  it('marks hashed files as immutable only if they are not rewritten', async () => {
    const { send } = serve([releases.make({ 'a.5b0e4cfb.css': 'a{}', 'b.5b0e4cfb.css': 'a{b:url(/c)}' })], AT);
    const controls = [await send('/a.5b0e4cfb.css'), await send('/b.5b0e4cfb.css')].map((each) =>
      each.headers.get('cache-control'),
    );
    expect(controls).toEqual(['public, max-age=31536000, immutable', 'no-cache']);
  });

  it('updates the integrity attribute of a link if docshelf has rewritten the linked file', async () => {
    const style = 'a{b:url(/c.png)}';
    const integrity = (text: string) => `sha384-${createHash('sha384').update(text).digest('base64')}`;
    const page = (base: string, digest: string) =>
      `<link rel="stylesheet" href="${base}a.css" integrity="${digest}"><script src="${base}b.js" integrity="sha256-x"></script>`;
    const { send } = serve([releases.make({ 'a.html': page('/', integrity(style)), 'a.css': style, 'b.js': '1' })], AT);
    const sent = await (await send('/a.css')).text();
    expect(sent).toBe('a{b:url(/docs/c.png)}');
    expect(await (await send('/a')).text()).toBe(page('/docs/', integrity(sent)));
  });

  it('does not change strings of a script that do not name a file of the site', async () => {
    const { send } = serve([releases.make({ 'a.js': 'a("/b.png"); c("/none.png")', 'b.png': 'png' })], AT);
    expect(await (await send('/a.js')).text()).toBe('a("/docs/b.png"); c("/none.png")');
  });

  it('rewrites the 404 page, and the assets of an earlier release that was built for another base path', async () => {
    const old = releases.make({ 'a.5b0e4cfb.css': 'a{b:url(/old/c)}' }, { builtFor: '/old/' });
    const { send } = serve([releases.make({ '404.html': PAGE }), old], AT);
    const missing = await send('/nowhere');
    expect([missing.status, await missing.text()]).toEqual([404, MOUNTED]);
    expect(await (await send('/a.5b0e4cfb.css')).text()).toBe('a{b:url(/docs/c)}');
  });

  it('can be served at the root if it was built for a folder', async () => {
    const { send } = serve([releases.make({ 'a.html': MOUNTED }, { builtFor: '/docs/' })]);
    expect(await (await send('/a')).text()).toBe(PAGE);
  });

  it('redirects to relative addresses, which are correct with every base path', async () => {
    const { send } = serve([releases.make({ 'a/index.html': PAGE })], AT);
    const response = await send('/a?q');
    expect([response.status, response.headers.get('location')]).toEqual([308, 'a/?q']);
  });

  it('responds with 503 if the file cannot be read, and reads the file again on the next request', async () => {
    const release = releases.make({ 'a.html': PAGE });
    const { send, site } = serve([release], AT);
    rmSync(join(release.siteDir, 'a.html'));
    expect((await send('/a')).status).toBe(503);
    const again = releases.make({ 'a.html': PAGE });
    site.current = new SiteSnapshot({ ...release, siteDir: again.siteDir }, [], { trailingSlash: 'auto', ...AT });
    expect((await send('/a')).status).toBe(200);
  });
});
