import { HeadBucketCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { type EgressRules, hostRulesOf, namesHost, s3UrlOf } from '../../src/domain/egress.ts';
import { EgressPolicy } from '../../src/net/egress.ts';
import { openS3Client } from '../../src/net/s3.ts';
import { clientBench, redirecting } from './client-bench.ts';
import { egressRulesOf } from './http-client-of.ts';

const bench = clientBench();
const { get } = bench;

async function server() {
  const started = await bench.server(redirecting('own'));
  return Object.assign(started, { port: Number(started.host.split(':')[1]) });
}

describe('requests to docshelf listeners', () => {
  it.each(['127.0.0.1', 'localhost', '0.0.0.0', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '2130706433'])(
    'are rejected for the host %s, even if private addresses are allowed',
    async (host) => {
      const own = await server();
      const pending = get(`http://${host}:${own.port}/`, { ownPorts: [own.port] });
      await expect(pending).rejects.toMatchObject({ code: 'address_not_allowed' });
      expect(own.requests).toHaveLength(0);
      expect(own.openSockets()).toBe(0);
    },
  );

  it('are rejected after a redirect and through a proxy', async () => {
    const [own, other] = [await server(), await server()];
    const rules = { ownPorts: [own.port] };
    const redirected = get(`${other.origin}/to?${encodeURIComponent(own.origin)}`, rules);
    await expect(redirected).rejects.toMatchObject({ code: 'address_not_allowed' });
    const proxied = get(`http://localhost:${own.port}/`, { ...rules, proxy: other.origin });
    await expect(proxied).rejects.toMatchObject({ code: 'address_not_allowed' });
    expect([own.requests.length, other.requests.length]).toEqual([0, 1]);
  });

  it('do not include requests to the same port of another machine, or to another port of this machine', async () => {
    const policy = new EgressPolicy(egressRulesOf({ ownPorts: [8080] }));
    expect(policy.allowsAddress('10.1.2.3', 'docs.internal', 8080)).toBe(true);
    expect(policy.allowsAddress('127.0.0.1', 'localhost', 8082)).toBe(true);
  });
});

describe('hosts of the egress rules', () => {
  it('are all allowed if no host is configured, but are all rejected in an air-gapped deployment', () => {
    const isAllowed = (isAirGapped: boolean, ...named: string[]) =>
      namesHost(hostRulesOf(isAirGapped, named), new URL('https://docs.acme.dev/'));
    expect(isAllowed(false)).toBe(true);
    expect(isAllowed(true)).toBe(false);
    for (const isAirGapped of [true, false]) {
      expect(isAllowed(isAirGapped, 'Docs.acme.dev')).toBe(true);
      expect(isAllowed(isAirGapped, 'docs.acme.dev:443')).toBe(true);
      expect(isAllowed(isAirGapped, 'docs.acme.dev:8443')).toBe(false);
      expect(isAllowed(isAirGapped, '*.acme.dev')).toBe(true);
      expect(isAllowed(isAirGapped, 'acme.dev')).toBe(false);
    }
  });
});

describe('crawl in EgressPolicy', () => {
  const policy = (
    allowAddresses: string[],
    rules: Partial<EgressRules> = {},
    ownOrigins = ['http://docs.internal:3000/a/'],
  ) => new EgressPolicy(egressRulesOf(rules)).forCrawl({ allowAddresses, ownOrigins });

  it('can connect to an address of a listed network only for the host and port of the crawled site', () => {
    const crawl = policy(['10.0.0.0/8']);
    expect(crawl.allowsAddress('10.1.1.1', 'docs.internal', 3000)).toBe(true);
    expect(crawl.allowsAddress('10.1.1.1', 'docs.internal', 9090)).toBe(false);
    expect(crawl.allowsAddress('10.1.1.1', 'grafana.internal', 3000)).toBe(false);
    expect(crawl.allowsAddress('10.1.1.1', '10.1.1.1', 3000)).toBe(false);
    expect(crawl.allowsAddress('192.168.0.1', 'docs.internal', 3000)).toBe(false);
    expect(crawl.allowsAddress('8.8.8.8', 'cdn.example', 443)).toBe(true);
  });

  it('can use other hosts if allowAddresses or network.allowedHosts lists them with a port', () => {
    const listed = policy(['10.0.0.0/8', 'Assets.internal:8443']);
    expect(listed.allowsAddress('192.168.0.1', 'assets.internal', 8443)).toBe(true);
    expect(listed.allowsAddress('10.0.0.1', 'assets.internal', 443)).toBe(false);
    const named = policy(['10.0.0.0/8'], { allowedHosts: ['docs.internal', 'assets.internal:8443', 'other.internal'] });
    expect(named.allowsAddress('10.0.0.1', 'assets.internal', 8443)).toBe(true);
    expect(named.allowsAddress('192.168.0.1', 'assets.internal', 8443)).toBe(false);
    expect(named.allowsAddress('10.0.0.1', 'other.internal', 80)).toBe(false);
    expect(() => named.admit(new URL('https://cdn.example/'))).toThrow('its host is not allowed');
  });

  it('can never use a metadata service or a docshelf listener', () => {
    const crawl = policy(['169.254.169.254:80', '127.0.0.0/8', '127.0.0.1:9090'], { ownPorts: [9090] });
    expect(crawl.allowsAddress('169.254.169.254', '169.254.169.254', 80)).toBe(false);
    expect(crawl.allowsAddress('127.0.0.1', '127.0.0.1', 9090)).toBe(false);
  });

  it('can use ports 80 and 443 of the crawled host, but no further port, if the site uses port 80', () => {
    const crawl = policy(['10.0.0.0/8'], {}, ['http://docs.internal/']);
    expect(crawl.allowsAddress('10.1.1.1', 'docs.internal', 443)).toBe(true);
    expect(crawl.allowsAddress('10.1.1.1', 'docs.internal', 8443)).toBe(false);
  });
});

describe('S3 store in EgressPolicy', () => {
  it('is contacted only if its host is allowed, whatever URL the SDK builds', async () => {
    const { host, port, requests, openSockets } = await server();
    const sendRequest = async (allowedHosts: string[], ownPorts: number[] = []) => {
      const policy = new EgressPolicy(egressRulesOf({ allowedHosts, allowsUnnamed: false, ownPorts })).forStore(
        () => null,
      );
      const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
      const config = { region: 'eu-1', endpoint: `http://${host}`, forcePathStyle: true, credentials, maxAttempts: 1 };
      const client = openS3Client(policy, config, { connectionTimeout: 2000, socketTimeout: 2000 }, 'caFile');
      await client.send(new HeadBucketCommand({ Bucket: 'b' })).finally(() => client.destroy());
    };
    await expect(sendRequest([])).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    await expect(sendRequest([host], [port])).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    expect([requests.length, openSockets()]).toEqual([0, 0]);
    await sendRequest([host]);
    expect(requests).toHaveLength(1);
  });

  it.each([
    [null, 'eu-central-1'],
    [null, 'cn-north-1'],
    [null, 'us-gov-west-1'],
    [null, 'us-iso-east-1'],
    [null, 'us-isob-east-1'],
    [null, 'us-isof-south-1'],
    [null, 'eu-isoe-west-1'],
    [null, 'eusc-de-east-1'],
    ['https://s3.internal:9000', 'eu-1'],
    ['http://s3.internal/base/', 'eu-1'],
    ['https://10.0.0.1:9000', 'eu-1'],
    ['https://[fd00::1]', 'eu-1'],
  ])(
    'is contacted at the URL that s3UrlOf() returns, whatever the bucket name: endpoint %s, region %s',
    async (endpoint, region) => {
      const policy = new EgressPolicy(egressRulesOf()).forStore(() => null);
      for (const bucket of ['docs', 'docs.acme.dev', 'a.bcd', 'Docs_1', 'ab', '-ab']) {
        for (const pathStyle of [false, true]) {
          const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
          const options = {
            ...(endpoint === null ? {} : { endpoint }),
            region,
            credentials,
            forcePathStyle: pathStyle,
          };
          const client = openS3Client(policy, options, { connectionTimeout: 1, socketTimeout: 1 }, 'caFile');
          let requestedUrl = '';
          client.middlewareStack.add(
            () => async (step) => {
              const { protocol, hostname, port, path } = step.request as Record<string, string>;
              requestedUrl = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`).href;
              return Promise.reject(new Error('asked'));
            },
            { step: 'deserialize', priority: 'low' },
          );
          await client.send(new HeadBucketCommand({ Bucket: bucket })).catch(() => undefined);
          const expectedUrl = s3UrlOf({ bucket, region, endpoint, pathStyle });
          const bare = (url: string): string => url.replace(/\/+$/, '');
          expect(bare(expectedUrl), `${bucket} ${pathStyle}`).toBe(bare(requestedUrl));
        }
      }
    },
  );
});
