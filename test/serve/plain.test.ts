import { afterEach, describe, expect, it } from 'vitest';
import { serve, sha256, TestReleases } from './helpers.ts';

const releases = new TestReleases();
afterEach(() => releases.remove());

const PAGE = `<!doctype html><title>Page</title>${'<p>all work and no play</p>'.repeat(100)}`;
const TAG = sha256(PAGE).slice(0, 32);
const FILES = {
  'index.html': PAGE,
  'a.html': PAGE,
  'b/index.html': PAGE,
  'ü.html': PAGE,
  'c d.txt': 'text',
  'e.png': 'x',
};
const LATER = 'Sun, 02 Jun 2999 10:20:30 GMT';

describe('plain()', () => {
  it.each<[string, Readonly<Record<string, string>>]>([
    ['/', {}],
    ['/?q=1', {}],
    ['/a', { 'accept-encoding': 'gzip' }],
    ['/a.html', { 'accept-encoding': 'gzip, deflate, br, zstd' }],
    ['/b/', { 'accept-encoding': 'br;q=0, gzip' }],
    ['/%C3%BC', {}],
    ['/c%20d.txt', { 'accept-encoding': 'gzip' }],
    ['/e.png', { 'if-modified-since': LATER }],
    ['/a', { 'if-none-match': `"${TAG}"` }],
    ['/a', { 'if-none-match': `"x", W/"${TAG}-gz"`, 'accept-encoding': 'gzip' }],
    ['/a', { 'if-none-match': `"${TAG}"`, 'accept-encoding': 'gzip' }],
    ['/a', { 'if-none-match': '*' }],
    ['/c%20d.txt', { 'if-none-match': `"${sha256('text').slice(0, 32)}"`, 'accept-encoding': 'br' }],
  ])('answers %s %j as respond() does', async (target, headers) => {
    const { server, ask } = serve([releases.make(FILES)]);
    expect(server.plain(target, headers)).toBeNull();
    // The first reads the file, which a condition alone does not.
    const { 'if-none-match': _, ...unconditional } = headers;
    await ask(target, unconditional);
    const asked = await ask(target, headers);
    const plain = server.plain(target, headers);
    const pairs = plain?.headers.flatMap((name, at, all) => (at % 2 === 0 ? [[name.toLowerCase(), all[at + 1]]] : []));
    expect([plain?.status, Object.fromEntries(pairs ?? [])]).toEqual([asked.status, Object.fromEntries(asked.headers)]);
    expect(plain?.body ?? Buffer.alloc(0)).toEqual(Buffer.from(await asked.arrayBuffer()));
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['/a', { range: 'bytes=0-1' }],
    ['/a', { 'if-match': `"${TAG}"` }],
    ['/a', { 'if-unmodified-since': LATER }],
    ['/b', {}],
    ['/nowhere', {}],
    ['/%61', {}],
    ['/a#b', {}],
    ['http://x/a', {}],
    ['*', {}],
  ])('leaves %s %j to respond()', async (target, headers) => {
    const { server, ask } = serve([releases.make(FILES)]);
    await ask('/a');
    await ask(target, headers);
    expect(server.plain(target, headers)).toBeNull();
  });

  it('leaves what is not in memory to respond()', async () => {
    const { server, ask } = serve([releases.make({ 'a.txt': 'a'.repeat(500), 'b.txt': 'b'.repeat(500) })], {
      cacheBytes: 1000,
    });
    await ask('/a.txt');
    await ask('/b.txt');
    expect(server.plain('/a.txt', {})).toBeNull();
  });

  it('leaves an old asset to respond(): its release may be removed', async () => {
    const { server, ask } = serve([releases.make(FILES), releases.make({ 'old.js': 'old()' })]);
    expect((await ask('/old.js')).status).toBe(200);
    expect(server.plain('/old.js', {})).toBeNull();
  });

  it('answers nothing of a former release', async () => {
    const { server, ask } = serve([releases.make(FILES)]);
    await ask('/a');
    expect(server.plain('/a', {})?.status).toBe(200);
    server.swap(null);
    expect(server.plain('/a', {})).toBeNull();
  });

  it('counts what it answers from memory', async () => {
    const hits: boolean[] = [];
    const { server, ask } = serve([releases.make(FILES)], { events: { onCache: (isHit) => hits.push(isHit) } });
    await ask('/a');
    server.plain('/a', {});
    expect(hits).toEqual([false, true]);
  });
});
