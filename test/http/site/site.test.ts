import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { truncateSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ReleaseView } from '../../../src/domain/release.ts';
import type { DeployState } from '../../../src/domain/status.ts';
import { BodyCache, SiteServer, SiteSnapshot } from '../../../src/site/index.ts';
import { featuresOf } from '../../helpers/features.ts';
import { releases } from '../../site/helpers.ts';
import { siteApp } from './site-example.ts';

const listeners: Server[] = [];
afterEach(() => {
  for (const listener of listeners.splice(0)) {
    listener.close();
    listener.closeAllConnections();
  }
  vi.restoreAllMocks();
});

function appOf(release: ReleaseView | null, state: DeployState = 'ready') {
  const current = release && new SiteSnapshot(release, [], { trailingSlash: 'auto' });
  const server = new SiteServer(new BodyCache(512 * 1024), { current });
  return siteApp({ server, state: () => state });
}

/** Opens the site on a real socket. @returns its port */
async function listen(...args: Parameters<typeof appOf>): Promise<number> {
  const answer = getRequestListener(appOf(...args).fetch);
  const listener = createServer((...exchange) => void answer(...exchange));
  listeners.push(listener);
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return (listener.address() as AddressInfo).port;
}

const PAGE = '<p>hello</p>'.repeat(200);

describe('site listener on a real socket', () => {
  it.each(['identity', 'gzip'])(
    'resets the connection if a file becomes shorter while it is streamed, so that the client detects the failure (%s)',
    async (encoding) => {
      // The HTTP adapter prints the error of each broken stream.
      vi.spyOn(console, 'error').mockImplementation(() => {});
      const release = releases.make({ 'big.txt': randomBytes(10_000_000).toString('hex') });
      const port = await listen(release);
      const headers = { 'accept-encoding': encoding };
      const outgoing = request({ host: '127.0.0.1', port, path: '/big.txt', agent: false, headers });
      outgoing.end();
      const [incoming] = await once(outgoing, 'response');
      truncateSync(join(release.siteDir, 'big.txt'), 1000);
      const read = async () => {
        for await (const _ of incoming);
      };
      await expect(read()).rejects.toMatchObject({ code: 'ECONNRESET' });
    },
  );
});

describe('docshelf’s own addresses', () => {
  it('are recognized by the raw request target, not by the URL that the framework builds', async () => {
    const app = appOf(releases.make({ 'a.html': PAGE }));
    const answer = async (url: string, target: string) => {
      const env = { incoming: { url: target, headers: {} } as never };
      return (await app.fetch(new Request(url), env)).status;
    };
    expect(await answer('http://x/_docshelf/features.json', '/_docshelf/assets/a')).toBe(404);
    expect(await answer('http://x/a', '/_docshelf/features.json')).toBe(200);
  });
});

describe('site without a version', () => {
  it.each([
    ['waiting', 503, '5', 'This documentation is not ready yet'],
    ['off', 404, null, 'This documentation is turned off'],
  ] as const)(
    'responds with an error page in the language of the reader if the site is %s',
    async (state, status, retryAfter, title) => {
      const app = appOf(null, state);
      const response = await app.request('/any/page.js');
      const { headers } = response;
      expect([response.status, headers.get('retry-after')]).toEqual([status, retryAfter]);
      expect(headers.get('vary')).toBe('Accept-Encoding, Accept-Language');
      expect(await response.text()).toContain(`<h1>${title}</h1>`);
      const german = await app.request('/any/page.js', { headers: { 'accept-language': 'de-AT,en;q=.5' } });
      expect(german.headers.get('content-language')).toBe('de');
      expect(await german.text()).toContain('<html lang="de" dir="ltr">');
    },
  );

  it('responds to POST with 405', async () => {
    expect((await appOf(null).request('/', { method: 'POST' })).status).toBe(405);
  });
});

describe('/_docshelf/ of a site', () => {
  it.each([
    ['with a version', true],
    ['without a version', false],
  ])('serves the feature report of a site %s', async (_name, isActive) => {
    const app = appOf(isActive ? releases.make({ 'index.html': PAGE }) : null);
    const response = await app.request('/_docshelf/features.json');
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    expect(await response.json()).toEqual(featuresOf());
    const head = await app.request('/_docshelf/features.json', { method: 'HEAD' });
    expect([head.headers.get('content-length'), await head.text()]).toEqual([
      response.headers.get('content-length'),
      '',
    ]);
  });

  it('does not serve the files that a release contains in its folder _docshelf', async () => {
    const app = appOf(releases.make({ 'index.html': PAGE, '_docshelf/manifest.json': '{}' }));
    for (const path of ['/_docshelf/manifest.json', '/_docshelf/', '/_docshelf']) {
      expect((await app.request(path)).status, path).toBe(404);
    }
    expect((await app.request('/_docshelf/features.json', { method: 'POST' })).status).toBe(405);
  });
});

describe('unexpected error of a site', () => {
  it('is passed to onError and returns 500', async () => {
    const faults: unknown[] = [];
    const app = siteApp({
      state: () => {
        throw new Error('a bug');
      },
      onError: (error) => faults.push(error),
    });
    const response = await app.request('/');
    expect([response.status, faults.length]).toEqual([500, 1]);
    expect(await response.text()).toBe('This page cannot be shown at the moment\n');
    const headers = { accept: 'text/html,*/*;q=.8', 'accept-language': 'ja' };
    expect(await (await app.request('/', { headers })).text()).toContain('<html lang="ja" dir="ltr">');
  });
});
