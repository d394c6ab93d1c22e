import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, expect, it, vi } from 'vitest';
import { GuardedFetcher } from '../../src/crawl/fetcher.ts';
import { EgressPolicy } from '../../src/net/egress.ts';
import { onFileEnd } from '../helpers/file-end.ts';
import { httpServer } from '../helpers/local-server.ts';
import { egressRulesOf } from '../net/http-client-of.ts';

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

it('the fetcher of a crawl fetches a page through a proxy even after a DNS lookup of the host of this page has failed', async () => {
  const proxy = await httpServer((_, response) => response.end('by proxy'));
  const rules = egressRulesOf({ proxy: proxy.origin, allowPrivate: false });
  const fetcher = new GuardedFetcher({
    policy: new EgressPolicy(rules).forCrawl({ allowAddresses: [], ownOrigins: [] }),
    requestTimeoutMs: 10_000,
    connectionsMax: 1,
    credentials: { origin: '', headers: {} },
    spoolDir: '',
  });
  onFileEnd(() => fetcher.close());
  onFileEnd(() => proxy.close());
  vi.spyOn(dns, 'lookup')
    .mockRejectedValueOnce(new Error('EAI_AGAIN'))
    .mockResolvedValue([{ address: '8.8.8.8', family: 4 }] as never);
  syncBuiltinESMExports();
  const request = { url: 'http://docs.test/', headers: {}, limitsOf: () => ({ bytesMax: 100, memoryBytesMax: 100 }) };
  const fetch = () => fetcher.fetch(request, new AbortController().signal);
  await expect(fetch()).rejects.toMatchObject({ code: 'address_not_allowed' });
  expect((await fetch()).status).toBe(200);
});
