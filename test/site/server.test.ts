import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { releases, serve, sha256, summary } from './helpers.ts';

const PAGE = `<!doctype html><title>Page</title>${'<p>all work and no play</p>'.repeat(100)}`;
const TAG = sha256(PAGE).slice(0, 32);
const LAST_MODIFIED = 'Sat, 01 Jun 2024 10:20:30 GMT';

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

/** Recommended values for pages. */
const PRESET = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'x-frame-options': 'SAMEORIGIN',
  'cross-origin-opener-policy': 'same-origin-allow-popups',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
};

describe('respond() of SiteServer to a plain request', () => {
  it('responds with the file and all its headers', async () => {
    const { send } = serve([releases.make({ 'a.html': PAGE })]);
    const response = await send('/a');
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toEqual({
      'accept-ranges': 'bytes',
      'cache-control': 'no-cache',
      'content-length': String(PAGE.length),
      'content-type': 'text/html; charset=utf-8',
      etag: `"${TAG}"`,
      'last-modified': LAST_MODIFIED,
      vary: 'Accept-Encoding',
      ...PRESET,
    });
    expect(await response.text()).toBe(PAGE);
  });

  it.each([
    ['gzip', 'gzip', `"${TAG}-gz"`, gunzipSync],
    ['gzip, br', 'br', `"${TAG}-br"`, brotliDecompressSync],
  ])(
    'compresses for Accept-Encoding "%s" with %s, and sends a separate strong ETag',
    async (accept, encoding, etag, decode) => {
      const { send } = serve([releases.make({ 'a.html': PAGE })]);
      const response = await send('/a', { 'accept-encoding': accept });
      expect(response.headers.get('content-encoding')).toBe(encoding);
      expect(response.headers.get('etag')).toBe(etag);
      const bytes = await bytesOf(response);
      expect(response.headers.get('content-length')).toBe(String(bytes.length));
      expect(decode(bytes).toString()).toBe(PAGE);
    },
  );

  it('does not compress small files, compressed types, or files with a text extension whose bytes are already compressed', async () => {
    const gzipped = Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(5000)]);
    const { send } = serve([releases.make({ 'a.css': 'a{}', 'a.png': Buffer.alloc(5000), 'a.json': gzipped })]);
    for (const path of ['/a.css', '/a.png', '/a.json']) {
      const response = await send(path, { 'accept-encoding': 'br' });
      expect(response.headers.get('content-encoding'), path).toBeNull();
      expect(response.headers.get('vary'), path).toBe('Accept-Encoding');
    }
  });

  it('responds to HEAD with the same headers and no body, also for large files', async () => {
    const { send } = serve([releases.make({ 'a.html': PAGE, 'big.txt': 'x'.repeat(9000) })], {
      cacheBytes: 64 * 1024,
    });
    for (const [path, accept] of [
      ['/a', 'br'],
      ['/a', ''],
      ['/big.txt', ''],
      ['/nope', ''],
    ] as const) {
      const get = await send(path, { 'accept-encoding': accept });
      const head = await send(path, { 'accept-encoding': accept }, 'HEAD');
      expect(head.status).toBe(get.status);
      expect(Object.fromEntries(head.headers)).toEqual(Object.fromEntries(get.headers));
      expect(await head.text()).toBe('');
      await get.arrayBuffer();
    }
  });

  it('responds from memory without returning a promise', async () => {
    const { server, send } = serve([releases.make({ 'a.html': PAGE })]);
    await send('/a');
    expect(server.respond({ method: 'GET', target: '/a', header: () => undefined, id: () => null })).toBeInstanceOf(
      Response,
    );
  });

  it('calls onCache for each cache hit and each cache miss', async () => {
    const hits: boolean[] = [];
    const { send } = serve([releases.make({ 'a.html': PAGE })], { events: { onCache: (hit) => hits.push(hit) } });
    await send('/a');
    await send('/a.html');
    expect(hits).toEqual([false, true]);
  });
});

describe('respond() of SiteServer to a missing address', () => {
  const site = () => releases.make({ 'index.html': 'root', '404.html': PAGE, 'ja/404.html': 'nai', 'a/b.html': '' });

  it("responds with the site's nearest 404 page, and never with 304", async () => {
    const { send } = serve([site()]);
    const names = ['etag', 'last-modified', 'cache-control', 'vary'];
    expect(await summary(await send('/nope'), ...names)).toEqual([
      404,
      null,
      null,
      'no-cache',
      'Accept-Encoding',
      PAGE,
    ]);
    expect(await summary(await send('/ja/x/y'), 'content-type')).toEqual([404, 'text/html; charset=utf-8', 'nai']);
    expect((await send('/nope', { 'if-none-match': '*', 'if-modified-since': LAST_MODIFIED })).status).toBe(404);
  });

  it('compresses the 404 page like other pages', async () => {
    const response = await serve([site()]).send('/nope', { 'accept-encoding': 'br' });
    expect(brotliDecompressSync(await bytesOf(response)).toString()).toBe(PAGE);
  });

  it('responds with plain text to a request for a missing asset', async () => {
    const { send } = serve([site()]);
    for (const path of ['/nope.js', '/ja/nope.css?v=1', '/x.txt', '/x.json']) {
      expect(await summary(await send(path), 'content-type'), path).toEqual([
        404,
        'text/plain; charset=utf-8',
        'Not found\n',
      ]);
    }
  });

  it('responds with a page that loads no files if the site has no 404 page', async () => {
    const response = await serve([releases.make({ 'index.html': '' })]).send('/nope');
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await response.text()).not.toMatch(/src=|href=|url\(/);
  });
});

describe('respond() of SiteServer to conditional requests', () => {
  const site = () => releases.make({ 'a.html': PAGE });

  it('responds with 304 to the ETag of the encoding, without a body', async () => {
    const { send } = serve([site()]);
    const response = await send('/a', { 'if-none-match': `"${TAG}-br"`, 'accept-encoding': 'br' });
    expect(response.status).toBe(304);
    expect(Object.fromEntries(response.headers)).toEqual({
      'cache-control': 'no-cache',
      etag: `"${TAG}-br"`,
      'last-modified': LAST_MODIFIED,
      vary: 'Accept-Encoding',
      ...PRESET,
    });
    expect(await response.text()).toBe('');
  });

  it('responds with 304 to the ETag of the uncompressed file if compression saves nothing', async () => {
    const bytes = Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(5000)]);
    const { send } = serve([releases.make({ 'a.json': bytes })]);
    const headers = { 'if-none-match': `"${sha256(bytes).slice(0, 32)}"`, 'accept-encoding': 'br' };
    expect((await send('/a.json', headers)).status).toBe(304);
    expect((await send('/a.json', headers)).status).toBe(304);
  });

  it('sends no Last-Modified date in the future', async () => {
    const { send } = serve([releases.make({ 'a.html': 'a' }, { createdAt: '2999-01-01T00:00:00Z' })]);
    const date = (await send('/a')).headers.get('last-modified') ?? '';
    expect(Date.parse(date)).toBeLessThanOrEqual(Date.now());
  });
});
