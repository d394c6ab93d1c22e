import { describe, expect, it } from 'vitest';
import { briefsOf, faultsOf, load } from './folder.ts';

const ORGANIZATION = (source: string) => `organizations: [{ id: a, domains: { d: { source: { ${source} } } } }]`;
const STORE = 'exportApi: { enabled: true, store: { kind: s3, bucket: b, region: eu-1';

describe('a host that the config names and network.allowedHosts does not', () => {
  it.each([
    ['staticExport: { enabled: true, bundleUrl: "https://x.dev/a" }', 'staticExport.bundleUrl', 2],
    ['staticExport: { enabled: true, bundleUrl: "oci://x.dev/a:v1" }', 'staticExport.bundleUrl', 2],
    [
      'staticExport: { enabled: true, signature: { url: "https://x.dev/a", publicKeys: [RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3] } }',
      'staticExport.signature.url',
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
  ])('is a fault with its line, in every type of deployment: %s', async (yaml, key, line) => {
    for (const head of ['deployment: { type: air-gapped }', 'network: { allowedHosts: [y.dev] }']) {
      const faults = await faultsOf(`${head}\n${yaml}`);
      expect(faults.map((fault) => fault.key)).toEqual([key]);
      expect(faults[0]).toMatchObject({
        code: 'config_invalid',
        message: expect.stringContaining('network.allowedHosts does not name'),
        where: expect.stringMatching(new RegExp(`^config\\.yaml:${line}:`)),
      });
    }
    await load(`network: { allowedHosts: [x.dev, b.x.dev, "*.amazonaws.com"] }\n${yaml}`);
    await load(yaml);
  });

  it('is one in an entry of sites', async () => {
    const yaml =
      'network: { allowedHosts: [y.dev] }\nsites:\n  - domain: a\n    staticExport: { enabled: true, bundleUrl: "https://x.dev/a" }';
    expect(await briefsOf(yaml)).toEqual(['config_invalid sites[0].staticExport.bundleUrl config.yaml:4:36']);
  });

  it('is one for the hosted search, which an air gap overrules instead', async () => {
    const features = 'features: { search: { enabled: true, discoveryUrl: "https://x.dev", keyFile: key } }';
    const keys = async (head: string) => (await faultsOf(`${head}\n${features}`)).map(({ key }) => key);
    expect(await keys('network: { allowedHosts: [y.dev] }')).toContain('features.search.discoveryUrl');
    expect(await keys('deployment: { type: air-gapped }')).not.toContain('features.search.discoveryUrl');
  });

  it('is none where nothing is asked by it', async () => {
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
    [
      ORGANIZATION('kind: crawl, url: "https://u:c4n4ry@x.dev/"'),
      'organizations[0].domains.d.source.url',
      'cookieFile',
    ],
  ])('is a fault that says where it goes: %s', async (yaml, key, place) => {
    const [fault, ...others] = await faultsOf(yaml);
    expect(others).toEqual([]);
    expect(fault).toMatchObject({ key, message: expect.stringContaining(place) });
    expect(fault?.message).not.toContain('c4n4ry');
  });
});

describe('a file: link', () => {
  it('leads below the preload folder, or one of network.fileRoots', async () => {
    const link = 'staticExport: { enabled: true, bundleUrl: "file:///srv/a/b.zip" }';
    const [fault] = await faultsOf(link);
    expect(fault).toMatchObject({
      key: 'staticExport.bundleUrl',
      message: expect.stringContaining('network.fileRoots'),
    });
    await expect(briefsOf(`network: { fileRoots: [/srv/aa] }\n${link}`)).resolves.toHaveLength(1);
    await load(`network: { fileRoots: [/mnt, /srv/a] }\n${link}`);
  });
});
