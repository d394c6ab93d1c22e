import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { DocshelfError } from '../../src/domain/errors.ts';
import { BodyCache, SiteServer, SiteSnapshot } from '../../src/site/index.ts';
import { kept, releases, serve, sha256, summary } from './helpers.ts';

const PAGE = `<!doctype html><title>Page</title>${'<p>all work and no play</p>'.repeat(100)}`;

/** Target of a descriptor of this process. Empty if it has been closed. */
function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}

describe('stream that the client does not read to its end', () => {
  it.skipIf(process.platform !== 'linux').each(['identity', 'gzip', 'br'])('closes its file (%s)', async (encoding) => {
    const release = releases.make({ 'big.txt': randomBytes(1_000_000).toString('hex') });
    const { send } = serve([release], { cacheBytes: 64 * 1024 });
    const isOpen = () => readdirSync('/proc/self/fd').some((fd) => linkOf(fd).startsWith(release.siteDir));
    const response = await send('/big.txt', { 'accept-encoding': encoding });
    expect(isOpen()).toBe(true);
    await response.body?.cancel();
    await expect.poll(isOpen).toBe(false);
  });
});

describe('text file that is too large for one cached body', () => {
  const text = Array.from({ length: 30_000 }, (_, at) => `line ${at}\n`).join('');
  const cacheBytes = 1024 ** 2;
  const decoded = { gzip: gunzipSync, br: brotliDecompressSync };

  it.each(['gzip', 'br'] as const)('is compressed while it is read, and then cached (%s)', async (encoding) => {
    const { send } = serve([releases.make({ 'big.txt': text })], { cacheBytes });
    const headers = { 'accept-encoding': encoding };
    const lengths: (string | null)[] = [];
    for (const method of ['HEAD', 'GET', 'GET', 'HEAD']) {
      const answer = await send('/big.txt', headers, method);
      const tag = `"${sha256(text).slice(0, 32)}-${encoding === 'br' ? 'br' : 'gz'}"`;
      expect([answer.status, answer.headers.get('content-encoding'), answer.headers.get('etag')]).toEqual([
        200,
        encoding,
        tag,
      ]);
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (method === 'GET') expect(decoded[encoding](bytes).toString()).toBe(text);
      lengths.push(answer.headers.get('content-length'));
      expect((await send('/big.txt', { ...headers, 'if-none-match': tag })).status).toBe(304);
    }
    const size = expect.stringMatching(/^\d{4,5}$/);
    expect(lengths).toEqual([null, null, size, size]);
  });

  it('is sent, but not cached, if its compressed form is larger than a cache entry may be', async () => {
    const hex = randomBytes(300_000).toString('hex');
    const { send } = serve([releases.make({ 'big.txt': hex })], { cacheBytes });
    for (let time = 0; time < 2; time++) {
      const answer = await send('/big.txt', { 'accept-encoding': 'gzip' });
      expect(answer.headers.get('content-length')).toBeNull();
      expect(gunzipSync(Buffer.from(await answer.arrayBuffer())).toString() === hex).toBe(true);
    }
  });

  it('is sent uncompressed while many other texts are compressed', async () => {
    const hex = randomBytes(300_000).toString('hex');
    const { send } = serve([releases.make({ 'big.txt': hex })], { cacheBytes });
    const askGzip = () => send('/big.txt', { 'accept-encoding': 'gzip' });
    const encodingOf = (answer: Response) => answer.headers.get('content-encoding');
    const begun = [...(await Promise.all(Array.from({ length: 8 }, askGzip))), await askGzip()];
    expect(begun.map(encodingOf)).toEqual([...Array.from({ length: 8 }, () => 'gzip'), null]);
    expect((await begun[8]?.text()) === hex).toBe(true);
    for (const answer of begun.slice(0, 8)) await answer.body?.cancel();
    await expect.poll(async () => encodingOf(await askGzip())).toBe('gzip');
  });
});

describe('respond() of SiteServer when the storage fails', () => {
  it.each([1024 ** 2, 8 * 1024])('responds with 503 instead of 404 (cache of %i bytes)', async (cacheBytes) => {
    const faults: DocshelfError[] = [];
    const release = releases.make({ 'a.html': PAGE, 'a.js': 'x'.repeat(2000), '404.html': PAGE });
    const { send } = serve([release], { cacheBytes, events: { onFault: (fault) => faults.push(fault) } });
    rmSync(release.siteDir, { recursive: true });
    for (const [path, headers] of [
      ['/a', {}],
      ['/a', { range: 'bytes=0-1' }],
      ['/a.js', {}],
    ] as const) {
      const response = await send(path, headers);
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await response.text()).not.toContain(release.siteDir);
    }
    expect(faults.map(({ code }) => code)).toEqual(['cannot_read', 'cannot_read', 'cannot_read']);
  });

  it('responds with 503 to a request for a missing page if the 404 page cannot be read', async () => {
    const release = releases.make({ '404.html': PAGE });
    const { send } = serve([release]);
    rmSync(release.siteDir, { recursive: true });
    expect((await send('/nope')).status).toBe(503);
  });

  it.each([1024 ** 2, 8 * 1024])(
    'responds with 503 for a file of unexpected size (cache of %i bytes)',
    async (cacheBytes) => {
      const faults: DocshelfError[] = [];
      const release = releases.make({ 'a.html': PAGE });
      const { send } = serve([release], { cacheBytes, events: { onFault: (fault) => faults.push(fault) } });
      writeFileSync(join(release.siteDir, 'a.html'), PAGE.slice(1));
      expect((await send('/a')).status).toBe(503);
      expect(faults.map(({ code }) => code)).toEqual(['release_damaged']);
    },
  );

  it('responds with 200 as soon as the storage is available again', async () => {
    const release = releases.make({ 'a.html': PAGE });
    const { send } = serve([release]);
    rmSync(release.siteDir, { recursive: true });
    expect((await send('/a')).status).toBe(503);
    mkdirSync(release.siteDir);
    writeFileSync(join(release.siteDir, 'a.html'), PAGE);
    expect((await send('/a')).status).toBe(200);
  });
});

describe('switch of a SiteServer to another release', () => {
  it('affects the next request, but not a pending request', async () => {
    const old = releases.make({ 'a.html': 'old' });
    const next = releases.make({ 'a.html': 'new' });
    const { site, send } = serve([old]);
    const inFlight = send('/a');
    site.current = new SiteSnapshot(next, [kept(old)], { trailingSlash: 'auto' });
    expect(await (await inFlight).text()).toBe('old');
    expect(await (await send('/a')).text()).toBe('new');
  });

  it('does not change the content of a response that is already being streamed from the old release', async () => {
    const old = releases.make({ 'a.txt': 'o'.repeat(300_000) });
    const next = releases.make({ 'a.txt': 'n'.repeat(300_000) });
    const { site, send } = serve([old], { cacheBytes: 64 * 1024 });
    const response = await send('/a.txt');
    site.current = new SiteSnapshot(next, [], { trailingSlash: 'auto' });
    expect(await response.text()).toBe('o'.repeat(300_000));
  });

  it('keeps serving the hashed assets of the older release, but not its pages', async () => {
    const old = releases.make({ 'old.html': 'old', 'app.5b0e4cfb.js': 'old' });
    const { send } = serve([releases.make({ 'new.html': 'new' }), old]);
    expect((await send('/old')).status).toBe(404);
    expect(await summary(await send('/app.5b0e4cfb.js'), 'cache-control')).toEqual([
      200,
      'public, max-age=31536000, immutable',
      'old',
    ]);
  });

  it('makes respond() throw no_bundle if the new release is null', () => {
    const server = new SiteServer(new BodyCache(0), { current: null });
    expect(() => server.respond({ method: 'GET', target: '/', header: () => undefined, id: () => null })).toThrow(
      expect.objectContaining({ code: 'no_bundle' }),
    );
  });
});
