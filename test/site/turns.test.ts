import { describe, expect, it } from 'vitest';
import { clientOf, type Files, releases, serve } from './helpers.ts';

const page = (title: string, body: string) =>
  `<!doctype html><title>${title}</title><main><h1>${title}</h1>${body}</main>`;

const SMALL: Files = { 'index.html': page('Small', '<p><a href="/index.html">words</a></p>') };

/** Pages of 700 KB whose conversion to Markdown takes a second or more each, all different. */
function slowPages(count: number, times = 1): Files {
  const body = '<p><b>a</b><i>b</i></p><table><tr><td>x</table><a href="/slow/0.html">c</a>'.repeat(8_000 * times);
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`slow/${at}.html`, page(`Slow ${at}`, body)]));
}

const markdown = { accept: 'text/markdown' };

/** Room for all pages. A page that is not cached is converted again. */
const CACHE_BYTES = 256 * 1024 ** 2;

/** Two sites in one process. All slow pages of the first one are requested first. */
function twoSites(form: { readonly basePath?: string }, headers: Readonly<Record<string, string>>, pages: Files) {
  const count = Object.keys(pages).length;
  const slow = serve([releases.make(pages)], { markdown: true, site: 'slow', cacheBytes: CACHE_BYTES, ...form });
  const small = serve([releases.make(SMALL)], { markdown: true, site: 'small', ...form });
  const done: number[] = [];
  const asked = Array.from({ length: count }, async (_, at) => {
    const answer = await slow.send(`/slow/${at}`, headers);
    done.push(at);
    return answer.status;
  });
  return { small, done, asked };
}

describe('page of a second site', { timeout: 300_000 }, () => {
  it('is converted to Markdown while slow pages still wait in the queue of the first site', async () => {
    const { small, done, asked } = twoSites({}, markdown, slowPages(4));
    // All other requests are waiting by now.
    await Promise.race(asked);
    expect((await small.send('/', markdown)).status).toBe(200);
    expect(done.length).toBeLessThan(4);
    expect(await Promise.all(asked)).toEqual([200, 200, 200, 200]);
  });

  it('is rewritten for its base path while large pages still wait in the queue of the first site', async () => {
    const { small, done, asked } = twoSites({ basePath: '/docs/' }, {}, slowPages(8, 3));
    await Promise.race(asked);
    expect((await small.send('/')).status).toBe(200);
    expect(done.length).toBeLessThan(6);
    expect(new Set(await Promise.all(asked))).toEqual(new Set([200]));
  });
});

describe('client that disconnects', { timeout: 300_000 }, () => {
  it('cancels the conversion of the requested page, whether it waits or runs', async () => {
    const site = serve([releases.make(slowPages(6))], { markdown: true, site: 'left' });
    const leaving = new AbortController();
    const left = Array.from({ length: 5 }, (_, at) =>
      site.server.respond({
        method: 'GET',
        target: `/slow/${at}`,
        header: (name) => (name === 'accept' ? 'text/markdown' : undefined),
        id: () => null,
        client: clientOf(leaving.signal),
      }),
    );
    const last = site.send('/slow/5', markdown);
    leaving.abort(new Error('the client left'));
    expect((await Promise.all(left)).map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
    expect((await last).status).toBe(200);
    expect(site.server.current?.notices).toEqual([]);
  });

  it('does not cancel the conversion of a page that another reader waits for', async () => {
    const site = serve([releases.make(slowPages(1))], { markdown: true, site: 'shared' });
    const leaving = new AbortController();
    const request = {
      method: 'GET',
      target: '/slow/0',
      header: (name: string) => (name === 'accept' ? 'text/markdown' : undefined),
      id: () => null,
    };
    const left = site.server.respond({ ...request, client: clientOf(leaving.signal) });
    const other = site.server.respond({ ...request, client: clientOf(new AbortController().signal) });
    leaving.abort(new Error('the client left'));
    expect((await left).status).toBe(503);
    expect((await other).status).toBe(200);
  });
});
