import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { briefsOf, faultsOf, load } from './folder.ts';

describe('validate()', () => {
  it.each([
    ['deployment: { type: on-premise }', 'deployment.type'],
    ['deployment: { domain: Acme }', 'deployment.domain'],
    ['deployment: { domain: docs.acme.dev }', 'deployment.domain'],
    ['staticExport: { enabled: "true" }', 'staticExport.enabled'],
    ['staticExport: { enabled: }', 'staticExport.enabled'],
    ['staticExport: { bundleUrl: "ftp://x/y" }', 'staticExport.bundleUrl'],
    ['staticExport: { bundleUrl: bundle.tar }', 'staticExport.bundleUrl'],
    ['staticExport: { bundleUrl: "https://" }', 'staticExport.bundleUrl'],
    ['staticExport: { version: -1 }', 'staticExport.version'],
    ['staticExport: { version: a/b }', 'staticExport.version'],
    ['staticExport: { sha256: abc }', 'staticExport.sha256'],
    ['server: { basePath: docs }', 'server.basePath'],
    ['server: { basePath: /a//b }', 'server.basePath'],
    ['server: { basePath: /../x }', 'server.basePath'],
    ['server: { basePath: "/a b" }', 'server.basePath'],
    ['staticExport: { keep: -1 }', 'staticExport.keep'],
    ['staticExport: { keep: 1.5 }', 'staticExport.keep'],
    ['staticExport: { preload: "" }', 'staticExport.preload'],
    ['server: { headers: { set: { Content-Length: "1" } } }', 'server.headers.set', 22],
    ['server: { headers: { set: { transfer-encoding: chunked } } }', 'server.headers.set', 22],
    ['server: { headers: { set: { X-Request-Id: a } } }', 'server.headers.set', 22],
    ['server: { headers: { set: { A: "a\\r\\nB: c" } } }', 'server.headers.set.A', 29],
    ['server: { headers: { preset: strict } }', 'server.headers.preset', 22],
    ['server: { port: 65536 }', 'server.port'],
    ['server: { port: "8080" }', 'server.port'],
    ['server: { host: "a b" }', 'server.host'],
    ['server: { cacheBytes: 1GB }', 'server.cacheBytes'],
    ['server: { cacheBytes: -1 }', 'server.cacheBytes'],
    ['server: { cacheBytes: 65GiB }', 'server.cacheBytes'],
    ['server: { cacheBytes: { a: 1 } }', 'server.cacheBytes'],
    ['server: { shutdownTimeout: { a: 1 } }', 'server.shutdownTimeout'],
    ['exportApi: { retention: { completed: 0 } }', 'exportApi.retention.completed', 27],
    ['server: { shutdownTimeout: 20 }', 'server.shutdownTimeout'],
    ['server: { shutdownTimeout: 500ms }', 'server.shutdownTimeout'],
    ['server: { shutdownTimeout: 0s }', 'server.shutdownTimeout'],
    ['server: { shutdownTimeout: 11m }', 'server.shutdownTimeout'],
    ['server: { trustedProxies: 10.0.0.1 }', 'server.trustedProxies'],
    ['admin: { token: "" }', 'admin.token'],
    ['admin: { token: "a b" }', 'admin.token'],
    ['admin: { token: fifteen-letters }', 'admin.token'],
    ['admin: { token: aaaaaaaaaaaaaaaa }', 'admin.token'],
    ['admin: { token: "................................" }', 'admin.token'],
    ['admin: { token: "0000000000000001" }', 'admin.token'],
    ['admin: { token: xyxyxyxyxyxyxyxyx }', 'admin.token'],
    ['admin: { token: test-test-test-test }', 'admin.token'],
    ['admin: { token: "1234123412341234" }', 'admin.token'],
    ['admin: { token: "0123456789abcdef" }', 'admin.token'],
    ['admin: { token: "12345678901234567890" }', 'admin.token'],
    ['admin: { token: abcdefghijklmnopqrstuvwxyz }', 'admin.token'],
    ['admin: { token: zyxwvutsrqponmlkj }', 'admin.token'],
    ['network: { proxy: "proxy:3128" }', 'network.proxy'],
    ['network: { allowedHosts: ["https://x"] }', 'network.allowedHosts[0]', 27],
    ['features: { search: 5 }', 'features.search'],
    ['features: { search: { enabled: 5 } }', 'features.search.enabled', 23],
    ['log: { level: loud }', 'log.level'],
    ['exportApi: { linkTtl: 8d }', 'exportApi.linkTtl'],
    ['exportApi: { linkTtl: 0s }', 'exportApi.linkTtl'],
    ['exportApi: { retention: never }', 'exportApi.retention'],
    ['exportApi: { store: { kind: ftp } }', 'exportApi.store.kind', 23],
    ['exportApi: { queue: { kind: redis } }', 'exportApi.queue.kind', 23],
    ['search: { widget: always }', 'search.widget'],
    ['search: { model: 5.5.5, keys: [{ id: a }] }', 'search.keys[0].sha256', 32],
    ['search: { model: { url: "https://x" } }', 'search.model.model', 11],
    ['search: { model: [] }', 'search.model'],
    ['organizations: {}', 'organizations', 1],
    ['organizations: [{ id: a, domains: { Docs: {} } }]', 'organizations[0].domains.Docs', 37],
    ['organizations: [{ id: a, keys: [{ id: b, type: root, sha256: 11 }] }]', 'organizations[0].keys[0].type', 42],
  ])(
    'rejects a value out of its bounds, with an error that names the key, for the config %s',
    async (yaml, key, column = yaml.indexOf('{') + 3) => {
      const briefs = await briefsOf(yaml);
      expect(briefs).toContain(`config_invalid ${key} config.yaml:1:${column}`);
    },
  );

  it.each([
    ['sites:', 'sites must be a list, but it has no value'],
    ['network:\n  allowedHosts:', 'network.allowedHosts must be a list, but it has no value'],
    ['staticExport:\n  enabled:', 'staticExport.enabled must be true or false, but it has no value'],
    ['network: { allowedHosts: 1 }', 'network.allowedHosts must be a list, not a number'],
  ])('states the type of the wrong value: %j', async (yaml, message) => {
    expect((await faultsOf(yaml)).map((fault) => fault.message)).toEqual([expect.stringContaining(message)]);
  });

  it('reports each invalid value once', async () => {
    expect(await faultsOf('log: { level: 5 }')).toHaveLength(1);
    expect(await faultsOf('server: { cacheBytes: [] }')).toHaveLength(1);
    expect(await faultsOf('features: { search: { enabled: 5, origins: 5 } }')).toHaveLength(2);
  });

  it.each([
    't0ken-t0ken-t0ken',
    'token-token-token',
    'a-long-random-token',
    '7316049582146037',
    '9f86d081884c7d65',
    '~K!q7@zP#m2$Lw9%',
  ])('accepts the admin token %s', async (token) => {
    const { config } = await load(`admin: { token: ${JSON.stringify(token)} }`);
    expect(config.admin.token?.reveal()).toBe(token);
  });

  it('accepts random admin tokens of 16 hex digits, and never prints a rejected token', async () => {
    for (let count = 0; count < 50; count += 1) await load(`admin: { token: "${randomBytes(8).toString('hex')}" }`);
    const [fault] = await faultsOf('admin: { token: canacanacanacanacana }');
    expect(fault?.message).toMatch(/^admin\.token is easy to guess/);
    expect(JSON.stringify(fault)).not.toContain('cana');
  });

  it('accepts the lowest and the highest value of a range', async () => {
    const { config } = await load(`
server: { port: 65535, cacheBytes: 64GiB, shutdownTimeout: 10m, trustedProxies: [10.0.0.1, 10.0.0.0/32, "::/128"] }
staticExport: { bundleUrl: "file:///srv/bundle.tar", keep: 0, version: "${'v'.repeat(128)}" }
network: { proxy: "http://proxy.example.com:3128", allowedHosts: [localhost, "127.0.0.1:80", "*.example.com", "[::1]:80"] }
`);
    expect(config.server.cacheBytes).toBe(64 * 1024 ** 3);
  });
});

describe('validate(), given an unknown key,', () => {
  it.each([
    ['staticExport: { bundelUrl: x }', 'unknown key "staticExport.bundelUrl"; did you mean "staticExport.bundleUrl"?'],
    ['staticexport: {}', 'unknown key "staticexport"; did you mean "staticExport"?'],
    [
      'server: { workers: 2 }',
      'unknown key "server.workers": docshelf removed it on 2026-11-27 and serves from one process. Remove the key, and add replicas to scale',
    ],
    ['constructor: 1', 'unknown key "constructor"; did you mean "server"?'],
    ['bundleUrl: x', 'unknown key "bundleUrl"; did you mean "staticExport.bundleUrl"?'],
    ['server: { level: info }', 'unknown key "server.level"; did you mean "log.level"?'],
    ['features: { serach: true }', 'unknown key "features.serach"; did you mean "features.search"?'],
    [
      'features: { search: { enabld: true } }',
      'unknown key "features.search.enabld"; did you mean "features.search.enabled"?',
    ],
    [
      'organizations: [{ id: a, plann: x }]',
      'unknown key "organizations[0].plann"; did you mean "organizations[0].plan"?',
    ],
  ])('suggests the nearest known key: %s', async (yaml, message) => {
    expect((await faultsOf(yaml)).map((fault) => fault.message)).toContain(message);
  });
});
