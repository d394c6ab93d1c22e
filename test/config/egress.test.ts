import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { contactedLinks } from '../../src/config/rules.ts';
import { briefsOf, errorOf, faultsOf, folderWith, load } from './folder.ts';

const UNLISTED = 'network.allowedHosts does not list';
const faultAt = (line: number, key: string, words: string = UNLISTED) => ({
  key,
  message: expect.stringContaining(words),
  where: expect.stringMatching(new RegExp(`^config\\.yaml:${line}:`)),
});
const ORGANIZATION = (source: string) => `organizations: [{ id: a, domains: { d: { source: { ${source} } } } }]`;
const STORE = 'exportApi: { enabled: true, store: { kind: s3, bucket: b, region: eu-1';

const URL_FORMATS = new Set(['http-url', 'link', 'bundle-link', 'database-url']);

/** Returns the config keys whose value is a URL. Keys of a site have the same name as keys of the daemon. */
function urlKeys(node: unknown, key = ''): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const below = Object.entries(node).flatMap(([name, value]) => {
    if (name === 'properties')
      return Object.entries(value).flatMap(([own, each]) => urlKeys(each, key === '' ? own : `${key}.${own}`));
    if (name === 'items') return urlKeys(value, `${key}[]`);
    return urlKeys(value, name === 'additionalProperties' ? `${key}.*` : key);
  });
  const daemons = key.replace(/^sites\[\]\.auth\./, 'server.auth.').replace(/^sites\[\]\./, '');
  return 'format' in node && URL_FORMATS.has(String(node.format)) ? [daemons, ...below] : below;
}

describe('a host in the config that network.allowedHosts does not list', () => {
  it.each([
    ['staticExport: { enabled: true, bundleUrl: "https://x.dev/a" }', 'staticExport.bundleUrl', 2],
    ['staticExport: { enabled: true, bundleUrl: "oci://x.dev/a:v1" }', 'staticExport.bundleUrl', 2],
    [
      'staticExport: { enabled: true, signature: { url: "https://x.dev/a", publicKeys: [RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3] } }',
      'staticExport.signature.url',
      2,
    ],
    ['traces: { endpoint: "https://x.dev" }', 'traces.endpoint', 2],
    [
      'server: { publicUrl: "https://d.dev", auth: { kind: oidc, clientId: docs, issuer: "https://x.dev" } }',
      'server.auth.issuer',
      2,
    ],
    ['search: { model: { url: "https://x.dev/", model: m } }', 'search.model', 2],
    [`${STORE}, endpoint: "https://x.dev" } }`, 'exportApi.store.endpoint', 2],
    [`${STORE} } }`, 'exportApi.store.bucket', 2],
    [
      `exportApi: { enabled: true }\n${ORGANIZATION('kind: crawl, url: "https://x.dev/"')}`,
      'organizations[0].domains.d.source.url',
      3,
    ],
  ])('is reported as an error with its line, in every type of deployment: %s', async (yaml, key, line) => {
    for (const head of ['deployment: { type: air-gapped }', 'network: { allowedHosts: [y.dev] }']) {
      expect(await faultsOf(`${head}\n${yaml}`)).toMatchObject([{ code: 'config_invalid', ...faultAt(line, key) }]);
    }
    await load(`network: { allowedHosts: [x.dev, b.x.dev, "*.amazonaws.com"] }\n${yaml}`);
    await load(yaml);
  });

  it('is an error for an s3 link, whose host depends on network.s3', async () => {
    const link = 'staticExport: { enabled: true, bundleUrl: "s3://docs/a.zip" }';
    const place = (s3: string, host: string) => `network: { allowedHosts: ["${host}"], s3: { ${s3} } }\n${link}`;
    for (const [s3, host] of [
      ['region: eu-central-1', 'docs.s3.eu-central-1.amazonaws.com'],
      ['endpoint: "https://x.dev:9000"', 'docs.x.dev:9000'],
      ['endpoint: "https://x.dev:9000", pathStyle: true', 'x.dev'],
    ] as const) {
      await load(place(s3, host));
      expect(await briefsOf(place(s3, 'y.dev'))).toEqual(['config_invalid staticExport.bundleUrl config.yaml:2:32']);
    }
    // The environment sets the region, so the egress policy checks the host when docshelf fetches the bundle.
    await load(`network: { allowedHosts: [y.dev] }\n${link}`);
  });

  it('is an error in staticExport.renew.apiUrl', async () => {
    const renew = 'staticExport: { enabled: true, renew: { apiUrl: "https://x.dev", keyFile: key, domain: acme } }';
    const read = (host: string) => load(`network: { allowedHosts: [${host}] }\n${renew}`, { files: { key: 'svc_x' } });
    expect((await errorOf(read('y.dev'))).faults).toMatchObject([faultAt(2, 'staticExport.renew.apiUrl')]);
    await read('x.dev');
  });

  it('is an error in every key whose URL docshelf contacts', async () => {
    const schema = JSON.parse(await readFile(join(import.meta.dirname, '../../config.schema.json'), 'utf8'));
    const { config } = await load('');
    const judged = new Set(contactedLinks(config).map(({ key }) => key));
    const others = [...new Set(urlKeys(schema))].filter((key) => !judged.has(key.replace('model.url', 'model')));
    expect(others.sort()).toEqual([
      'api.publicUrl',
      // Browsers send requests to these origins, but docshelf does not.
      'features.analytics.origins[]',
      'features.apiPlayground.origins[]',
      'features.assistant.origins[]',
      'features.search.origins[]',
      'network.proxy',
      // The host of the endpoint is checked with each S3 link.
      'network.s3.endpoint',
      // The first table of this file checks the URL of a crawl.
      'organizations[].domains.*.source.url',
      'server.publicUrl',
    ]);
  });

  it('is an error in an entry of sites', async () => {
    const yaml =
      'network: { allowedHosts: [y.dev] }\nsites:\n  - domain: a\n    staticExport: { enabled: true, bundleUrl: "https://x.dev/a" }';
    expect(await briefsOf(yaml)).toEqual(['config_invalid sites[0].staticExport.bundleUrl config.yaml:4:36']);
  });

  it('is an error in the file that bundleUrlFile names', async () => {
    const read = (yaml: string, link = 'https://x.dev/a?sig=c4n4ry\n') => load(yaml, { files: { link } });
    const single = 'staticExport: { enabled: true, bundleUrlFile: link }';
    const listed = `sites: [{ domain: a, ${single} }]`;
    for (const [yaml, key] of [
      [single, 'staticExport.bundleUrlFile'],
      [listed, 'sites[0].staticExport.bundleUrlFile'],
    ] as const) {
      const { faults } = await errorOf(read(`network: { allowedHosts: [y.dev] }\n${yaml}`));
      expect(faults).toMatchObject([faultAt(2, key)]);
      expect(faults[0]?.message).not.toContain('c4n4ry');
      await read(`network: { allowedHosts: [x.dev] }\n${yaml}`);
    }
    expect((await errorOf(read(single, 'file:///etc/docs.tar.gz'))).faults).toMatchObject([
      { message: expect.stringContaining('fileRoots') },
    ]);
    // A link in a file may contain a password.
    await read(single, 'https://u:p@x.dev/a');
  });

  it('is an error in allowAddresses of a crawl, except for an IP address or an IP network', async () => {
    const crawl = (pair: string) =>
      `network: { allowedHosts: [x.dev, "*.y.dev"] }\nexportApi: { enabled: true }\n${ORGANIZATION(`kind: crawl, url: "https://x.dev/", allowAddresses: [10.0.0.0/8, "${pair}"]`)}`;
    expect(await faultsOf(crawl('cdn.internal:8443'))).toMatchObject([
      faultAt(
        3,
        'organizations[0].domains.d.source.allowAddresses[1]',
        'add "cdn.internal:8443" to network.allowedHosts',
      ),
    ]);
    for (const pair of ['X.dev:8443', 'a.y.dev:80', 'fd00::/8', '127.0.0.1']) await load(crawl(pair));
  });

  it('cannot be allowed by a wildcard with a port', async () => {
    const faults = await faultsOf('network:\n  allowedHosts:\n    - x.dev:443\n    - "*.acme.dev:443"');
    expect(faults).toMatchObject([faultAt(4, 'network.allowedHosts[1]', '*.domain without a port')]);
    await load('network: { allowedHosts: ["*.acme.dev", "[fd00::1]:443", "10.0.0.1:80", localhost] }');
  });

  it('is an error for the hosted search, except in an air-gapped deployment, where the hosted search is off', async () => {
    const features = 'features: { search: { enabled: true, discoveryUrl: "https://x.dev", keyFile: key } }';
    const keys = async (head: string) => (await faultsOf(`${head}\n${features}`)).map(({ key }) => key);
    expect(await keys('network: { allowedHosts: [y.dev] }')).toContain('features.search.discoveryUrl');
    expect(await keys('deployment: { type: air-gapped }')).not.toContain('features.search.discoveryUrl');
  });

  it('is not an error if docshelf does not contact the host', async () => {
    await load('deployment: { type: air-gapped }\nstaticExport: { enabled: false, bundleUrl: "https://x.dev/a" }');
    await load(`deployment: { type: air-gapped }\n${ORGANIZATION('kind: crawl, url: "https://x.dev/"')}`);
  });
});

describe('a user or a password in a link', () => {
  it.each([
    [
      'staticExport: { enabled: true, bundleUrl: "https://u:c4n4ry@x.dev/a" }',
      'staticExport.bundleUrl',
      'bundleUrlFile',
    ],
    ['search: { model: { url: "https://u:c4n4ry@x.dev/", model: m } }', 'search.model', 'search.model.keyFile'],
    [`${STORE}, endpoint: "https://c4n4ry@x.dev" } }`, 'exportApi.store.endpoint', 'accessKeyId'],
    ['network: { s3: { endpoint: "https://u:c4n4ry@x.dev" } }', 'network.s3.endpoint', 'AWS_ACCESS_KEY_ID'],
    [
      ORGANIZATION('kind: crawl, url: "https://u:c4n4ry@x.dev/"'),
      'organizations[0].domains.d.source.url',
      'cookieFile',
    ],
  ])('is an error that names the setting for credentials: %s', async (yaml, key, place) => {
    const [fault, ...others] = await faultsOf(yaml);
    expect(others).toEqual([]);
    expect(fault).toMatchObject(faultAt(1, key, place));
    expect(fault?.message).not.toContain('c4n4ry');
  });
});

describe('a file: link', () => {
  it('must point into the preload folder or one of network.fileRoots', async () => {
    const link = 'staticExport: { enabled: true, bundleUrl: "file:///srv/a/b.zip" }';
    expect(await faultsOf(link)).toMatchObject([faultAt(1, 'staticExport.bundleUrl', 'network.fileRoots')]);
    await expect(briefsOf(`network: { fileRoots: [/srv/aa] }\n${link}`)).resolves.toHaveLength(1);
    await load(`network: { fileRoots: [/mnt, /srv/a] }\n${link}`);
  });

  it('can point into the preload folder of its site, or into the preload folder of the daemon', async () => {
    const cwd = await folderWith({ 'config.yaml': '' });
    const read = async (path: string) => {
      const site = `staticExport: { enabled: true, bundleUrl: "file://${cwd}/${path}" }`;
      await writeFile(join(cwd, 'config.yaml'), `sites: [{ domain: a, ${site} }]`);
      return loadConfig({ file: null, env: {}, cwd });
    };
    for (const path of ['bundles/a/x.zip', 'bundles/x.zip']) await read(path);
    expect((await errorOf(read('x.zip'))).faults).toHaveLength(1);
  });
});
