import dns from 'node:dns';
import { describe, expect, it, vi } from 'vitest';
import { hostRulesOf } from '../../src/domain/egress.ts';
import { admitBehindProxy } from '../../src/net/dispatcher.ts';
import { EgressPolicy } from '../../src/net/egress.ts';
import { clientBench, redirecting } from './client-bench.ts';
import { egressRulesOf } from './http-client-of.ts';

const bench = clientBench();
const { get } = bench;
const server = () => bench.server(redirecting('secret'));

describe('client without access to private addresses', () => {
  it.each([
    '127.0.0.1',
    'localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '127.1',
    '0.0.0.0',
    '[64:ff9b::7f00:1]',
  ])('does not connect to the private host %s', async (host) => {
    const { host: own, requests, openSockets } = await server();
    const pending = get(`http://${host}:${own.split(':')[1]}/`, { allowPrivate: false });
    await expect(pending).rejects.toMatchObject({ code: 'address_not_allowed', fields: { retryable: false } });
    expect(requests).toHaveLength(0);
    expect(openSockets()).toBe(0);
  });

  it('does not connect through a proxy to a private address', async () => {
    const { origin, requests } = await server();
    const pending = get('http://localhost:1/', { allowPrivate: false, proxy: origin });
    await expect(pending).rejects.toMatchObject({ code: 'address_not_allowed' });
    expect(requests).toHaveLength(0);
  });
});

describe('host name that only the proxy can resolve', () => {
  const admit = (host: string, allowedHosts: string[] = []) => {
    const rules = egressRulesOf({ proxy: 'http://127.0.0.1:9', ...hostRulesOf(false, allowedHosts) });
    const reach = { allowAddresses: ['cdn.invalid:8080'], ownOrigins: ['http://docs.invalid/'] };
    return admitBehindProxy(new EgressPolicy(rules).forCrawl(reach), new URL(`http://${host}/`));
  };

  it('is requested by a crawl only if the host is crawled, or if allowAddresses or network.allowedHosts lists the host', async () => {
    for (const host of ['intranet.invalid', 'cdn.invalid', 'docs.invalid:8080']) {
      await expect(admit(host), host).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    }
    for (const host of ['docs.invalid', 'cdn.invalid:8080']) await admit(host);
    await admit('intranet.invalid', ['intranet.invalid']);
    await admit('a.intranet.invalid', ['*.intranet.invalid']);
  });

  it('is not requested by a client without access to private addresses, and the proxy receives no request', async () => {
    const { origin, requests } = await server();
    const pending = get('http://intranet.invalid/', { allowPrivate: false, proxy: origin });
    await expect(pending).rejects.toMatchObject({ code: 'address_not_allowed' });
    expect(requests).toHaveLength(0);
  });
});

describe('client with access to private addresses', () => {
  it('never connects to a metadata service: by address, name, redirect or proxy', async () => {
    const { origin } = await server();
    const to = (url: string) => `${origin}/to?${encodeURIComponent(url)}`;
    for (const url of [
      'http://169.254.169.254/latest/meta-data/',
      'http://0xa9fea9fe/',
      'http://[::ffff:169.254.169.254]/',
      'http://[fd00:ec2::254]/',
      'http://100.100.100.200/',
      'http://metadata.google.internal/',
      to('http://169.254.169.254/'),
      to('http://2852039166/'),
    ]) {
      const pending = get(url);
      await expect(pending, url).rejects.toMatchObject({ code: 'address_not_allowed' });
    }
    const pending = get('http://169.254.169.254/', { proxy: origin });
    await expect(pending).rejects.toMatchObject({ code: 'address_not_allowed' });
  });
});

describe('lookupFor() (DNS lookup without private addresses)', () => {
  const policy = new EgressPolicy(egressRulesOf({ allowPrivate: false }));
  const found = (...addresses: string[]) =>
    vi.spyOn(dns, 'lookup').mockImplementation(((_host: string, _options: unknown, callback: unknown) => {
      const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      (callback as (error: null, all: unknown) => void)(null, all);
    }) as never);
  const lookUp = (all: boolean) =>
    new Promise((resolve, reject) => {
      policy.lookupFor('x.test', 80)('x.test', { all }, (error, address, family) =>
        error === null ? resolve(all ? address : [address, family]) : reject(error),
      );
    });

  it('returns the public addresses of a name', async () => {
    found('10.0.0.1', '8.8.8.8', '::1', '2606:4700::1111');
    expect(await lookUp(true)).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ]);
    expect(await lookUp(false)).toEqual(['8.8.8.8', 4]);
  });

  it('rejects a name without a public address', async () => {
    found('10.0.0.1', '169.254.169.254');
    await expect(lookUp(true)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
  });
});
