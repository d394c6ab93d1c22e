import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GuardedFetcher } from '../../src/crawl/fetcher.ts';
import type { AnswerRequest } from '../../src/crawl/render/rendered-page.ts';
import { EgressPolicy } from '../../src/net/egress.ts';
import { httpServer, type LocalServer } from '../helpers/local-server.ts';
import { egressRulesOf } from '../net/http-client-of.ts';
import { Browsers, hasChromium } from './export-site.ts';
import { whyNoChromium } from './reader.ts';

/** Forms of addresses that no page may reach. */
const METADATA = ['http://169.254.169.254/a', 'http://2852039166/b', 'http://[::ffff:169.254.169.254]/c'];

describe.skipIf(!hasChromium)(`a rendered page whose requests are checked by the egress policy${whyNoChromium}`, () => {
  const browsers = new Browsers();
  let site: LocalServer;
  let other: LocalServer;
  let fetcher: GuardedFetcher;

  beforeAll(async () => {
    other = await httpServer((_, response) => response.setHeader('content-type', 'image/png').end());
    site = await httpServer(({ url }, response) => {
      response.setHeader('content-type', 'text/html');
      if (url === '/away') response.writeHead(302, { location: METADATA[0] }).end();
      else if (url !== '/') response.end();
      else {
        const wanted = [`${other.origin}/picture.png`, '/own.png', '/away', ...METADATA];
        response.end(`<p>Guarded</p>${wanted.map((src) => `<img src="${src}">`).join('')}`);
      }
    });
    fetcher = new GuardedFetcher({
      policy: new EgressPolicy(egressRulesOf()).forCrawl({
        allowAddresses: ['127.0.0.1', '169.254.0.0/16', other.host],
        ownOrigins: [site.origin],
      }),
      requestTimeoutMs: 10_000,
      connectionsMax: 4,
      credentials: { origin: site.origin, headers: { cookie: 'session=secret' } },
      spoolDir: await browsers.folder(),
    });
  });
  afterAll(async () => {
    await browsers.close();
    await fetcher.close();
    await site.close();
    await other.close();
  });

  it('cannot request a metadata service under any notation of its address, and sends credentials only to the origin of the site', async () => {
    const limits = { bytesMax: 1024 ** 2, memoryBytesMax: 1024 ** 2 };
    const answer: AnswerRequest = ({ url, headers }, signal) =>
      fetcher.fetch({ url, headers, limitsOf: () => limits }, signal);
    const session = await browsers.open(answer);
    const page = await session.render(`${site.origin}/`, { signal: AbortSignal.timeout(60_000) });

    expect(page).toMatchObject({ state: 'settled', dom: { text: 'Guarded' } });
    expect(new Set(page.failures.map(({ why }) => why))).toEqual(new Set(['address_not_allowed']));
    expect(page.failures.map(({ url }) => new URL(url).pathname).sort()).toEqual(['/a', '/a', '/b', '/c']);
    expect(site.requests.map(({ headers }) => headers.cookie)).toContain('session=secret');
    expect(new Set(site.requests.map(({ headers }) => headers.cookie))).toEqual(new Set(['session=secret']));
    expect(other.requests.map(({ url, headers }) => [url, headers.cookie])).toEqual([['/picture.png', undefined]]);
  });
});
