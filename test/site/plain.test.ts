import { describe, expect, it } from 'vitest';
import type { FastAnswer } from '../../src/site/index.ts';
import { releases, serve, sha256 } from './helpers.ts';

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

function plainHeaders(plain: FastAnswer | null): Record<string, string | undefined> {
  const pairs = plain?.headers.flatMap((name, at, all) => (at % 2 === 0 ? [[name.toLowerCase(), all[at + 1]]] : []));
  return Object.fromEntries(pairs ?? []);
}

describe('fastAnswer() of SiteServer (responses from memory)', () => {
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
  ])('returns for the path %s with the headers %j the same response as respond()', async (target, headers) => {
    const { server, send } = serve([releases.make(FILES)]);
    expect(server.fastAnswer(target, headers)).toBeNull();
    // The first request reads the file, which a conditional one does not.
    const { 'if-none-match': _, ...unconditional } = headers;
    await send(target, unconditional);
    const asked = await send(target, headers);
    const plain = server.fastAnswer(target, headers);
    expect([plain?.status, plainHeaders(plain)]).toEqual([asked.status, Object.fromEntries(asked.headers)]);
    expect(plain?.body ?? Buffer.alloc(0)).toEqual(Buffer.from(await asked.arrayBuffer()));
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['/_docshelf/search', {}],
    ['/%5Fdocshelf/search', {}],
    ['/a/../_docshelf/search', {}],
    ['/a/%2e%2e/_docshelf/search', {}],
    ['//_docshelf/search', {}],
    ['/a%2fb', {}],
    ['/nowhere', {}],
    ['/a', { range: 'bytes=0-1' }],
    ['/a', { 'if-match': `"${TAG}"` }],
    ['/a', { 'if-unmodified-since': LATER }],
    ['/b', {}],
    ['/%61', {}],
    ['/a#b', {}],
    ['http://x/a', {}],
    ['*', {}],
  ])('returns null for the path %s with the headers %j, which need respond()', async (target, headers) => {
    const { server, send } = serve([releases.make(FILES)]);
    await send('/a');
    await send(target, headers);
    expect(server.fastAnswer(target, headers)).toBeNull();
  });

  it('returns null for a body that is not in memory', async () => {
    const { server, send } = serve([releases.make({ 'a.txt': 'a'.repeat(500), 'b.txt': 'b'.repeat(500) })], {
      cacheBytes: 1000,
    });
    await send('/a.txt');
    await send('/b.txt');
    expect(server.fastAnswer('/a.txt', {})).toBeNull();
  });

  it('returns null for an asset of an older release, because this release may be removed', async () => {
    const { server, send } = serve([releases.make(FILES), releases.make({ 'old.js': 'old()' })]);
    expect((await send('/old.js')).status).toBe(200);
    expect(server.fastAnswer('/old.js', {})).toBeNull();
  });

  it('does not return the body of a previous release', async () => {
    const { server, site, send } = serve([releases.make(FILES)]);
    await send('/a');
    expect(server.fastAnswer('/a', {})?.status).toBe(200);
    site.current = null;
    expect(server.fastAnswer('/a', {})).toBeNull();
  });

  it('counts its response as a cache hit', async () => {
    const hits: boolean[] = [];
    const { server, send } = serve([releases.make(FILES)], { events: { onCache: (isHit) => hits.push(isHit) } });
    await send('/a');
    server.fastAnswer('/a', {});
    expect(hits).toEqual([false, true]);
  });
});
