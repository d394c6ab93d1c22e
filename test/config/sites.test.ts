import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultsOf, load } from './folder.ts';

const messagesOf = async (yaml: string): Promise<string[]> =>
  (await faultsOf(yaml)).map(({ message, where }) => `${where} ${message}`);

const entry = (domain: string, more = ''): string =>
  `  - { domain: ${domain}, staticExport: { enabled: true }${more === '' ? '' : `, ${more}`} }\n`;

describe('sites in the config', () => {
  it('consist of one entry if the config has no list', async () => {
    const { sites, config } = await load('deployment: { domain: acme }\nstaticExport: { enabled: true }\n');
    expect(sites).toEqual([{ domain: 'acme', title: null, hosts: [], basePath: '/', config }]);
  });

  it('have separate staticExport settings in each entry of a list, and override the settings of the daemon key by key', async () => {
    const { sites, cwd } = await load(
      `server: { trailingSlash: always, port: 8100 }
features: { assistant: true, analytics: true }
search: { model: off }
sites:
  - domain: acme
    title: Acme Docs
    hosts: [Docs.ACME.internal]
    staticExport: { enabled: true, version: v2 }
    features: { analytics: false }
  - domain: beta
    basePath: /team/docs
    trailingSlash: never
    staticExport: { preload: ./archives, keep: 7 }
    search: { enabled: false }
`,
      { files: { 'archives/none.txt': '' } },
    );
    const [acme, beta] = sites;
    expect(acme).toMatchObject({ domain: 'acme', title: 'Acme Docs', hosts: ['docs.acme.internal'], basePath: '/' });
    expect(acme?.config).toMatchObject({
      deployment: { domain: 'acme' },
      server: { trailingSlash: 'always', port: 8100 },
      staticExport: { enabled: true, version: 'v2', keep: 3 },
      features: { assistant: { enabled: true }, analytics: { enabled: false } },
      search: { enabled: true, model: 'off' },
    });
    expect(acme?.config.staticExport.preload).toMatchObject({
      dir: join(cwd, 'bundles/acme'),
      mayBeMissing: true,
    });
    expect(beta).toMatchObject({ domain: 'beta', title: null, hosts: [], basePath: '/team/docs/' });
    expect(beta?.config).toMatchObject({
      server: { trailingSlash: 'never' },
      staticExport: { enabled: false, version: null, keep: 7 },
      features: { analytics: { enabled: true } },
      search: { enabled: false, model: 'off' },
    });
    expect(beta?.config.staticExport.preload).toMatchObject({
      dir: join(cwd, 'archives'),
      mayBeMissing: false,
    });
  });

  it('can name files, which docshelf reads and watches', async () => {
    const yaml = 'sites: [{ domain: acme, staticExport: { enabled: true, bundleUrlFile: ./link } }]';
    const link = 'https://bundles.test/acme.tar.gz?signature=1';
    const { sites, watchedFiles, cwd } = await load(yaml, { files: { link } });
    expect(sites[0]?.config.staticExport.bundleUrlFile?.text.reveal()).toBe(link);
    expect(watchedFiles).toContain(join(cwd, 'link'));
  });

  it('report the entry that names a missing file', async () => {
    const faults = await messagesOf(
      `sites:\n${entry('acme')}  - { domain: beta, basePath: /b, staticExport: { bundleUrlFile: ./none } }\n`,
    );
    expect(faults).toEqual([expect.stringMatching(/^config\.yaml:3:\d+ .*sites\[1\]\.staticExport\.bundleUrlFile/)]);
  });

  it.each<[string, string, RegExp]>([
    [
      'a host and path of two sites',
      `sites:\n${entry('acme', 'hosts: [a.test], basePath: /x')}${entry('beta', 'hosts: [A.test], basePath: /x/')}`,
      /sites\[1\]\.hosts\[0\]: site "beta" and site "acme" \(sites\[0\]\) both serve a\.test\/x\//,
    ],
    [
      'a host of two sites in different notations',
      `sites:\n${entry('acme', 'hosts: [a.test]')}${entry('beta', 'hosts: [a.test.]')}`,
      /site "beta" and site "acme" \(sites\[0\]\) both serve a\.test\//,
    ],
    [
      'a path of two sites that serve all other hosts',
      `sites:\n${entry('acme')}${entry('beta')}`,
      /site "beta" and site "acme" \(sites\[0\]\) both serve every other host under \//,
    ],
    [
      'a domain of two sites',
      `sites:\n${entry('acme')}${entry('acme', 'basePath: /x')}`,
      /sites\[1\]\.domain repeats "acme"/,
    ],
    [
      'staticExport next to sites',
      `staticExport: { keep: 2 }\nsites:\n${entry('acme')}`,
      /staticExport\.keep and sites are both set/,
    ],
    ['deployment.domain next to sites', `deployment: { domain: x }\nsites:\n${entry('acme')}`, /deployment\.domain/],
    [
      'a conflict between keys of an entry',
      `sites:\n${entry('acme')}  - { domain: beta, basePath: /b, staticExport: { signature: { required: true } } }\n`,
      /^config\.yaml:3:\d+ sites\[1\] \(beta\): staticExport\.signature has no key/,
    ],
    [
      'a domain that no organization has',
      `organizations: [{ id: org, plan: pro, domains: { acme: {} } }]\nsites:\n${entry('acme')}${entry('beta', 'basePath: /b')}`,
      /sites\[1\]\.domain "beta" belongs to no organization/,
    ],
    [
      'a host that another domain of an organization uses',
      `organizations: [{ id: org, plan: pro, domains: { acme: {}, other: { hosts: [docs.test] } } }]\nsites:\n${entry('acme', 'hosts: [docs.test]')}`,
      /sites\[0\]\.hosts\[0\] "docs\.test" also belongs to domain "other"/,
    ],
    [
      "a base path under docshelf's own path",
      `sites:\n${entry('acme', 'basePath: /_docshelf/x')}`,
      /sites\[0\] \(acme\): server\.basePath is under/,
    ],
    [
      'a model that differs from the daemon',
      `search: { model: off }\nsites:\n${entry('acme', 'search: { model: builtin }')}`,
      /sites\[0\]\.search\.model differs from search\.model/,
    ],
    ['a host with a port', `sites:\n${entry('acme', 'hosts: ["a.test:8080"]')}`, /without a port/],
  ])('are rejected if the config contains %s', async (_, yaml, sentence) => {
    expect(await messagesOf(yaml)).toEqual([expect.stringMatching(sentence)]);
  });

  it('may share a host under different paths, and a path under different hosts', async () => {
    const { sites } = await load(
      `sites:\n${entry('a', 'hosts: [x.test]')}${entry('b', 'hosts: [x.test], basePath: /b')}${entry('c', 'hosts: [y.test]')}${entry('d')}`,
    );
    expect(sites).toHaveLength(4);
  });

  it('can have a thousand entries', async () => {
    const many = Array.from({ length: 1000 }, (_, at) => entry(`site-${at}`, `basePath: /s${at}`)).join('');
    const beganMs = performance.now();
    const { sites } = await load(`sites:\n${many}`);
    expect(sites).toHaveLength(1000);
    console.log(`figure: a config of 1,000 sites is loaded in ${(performance.now() - beganMs).toFixed(0)} ms`);
  });

  it('reject search.keys and search.memory, which apply to the whole daemon', async () => {
    const search = `{ memory: 64MiB, keys: [{ id: a, sha256: "${'0'.repeat(64)}" }] }`;
    expect(await messagesOf(`sites:\n${entry('acme', `search: ${search}`)}`)).toEqual([
      expect.stringMatching(/^config\.yaml:2:\d+ unknown key "sites\[0\]\.search\.memory"/),
      expect.stringMatching(/^config\.yaml:2:\d+ unknown key "sites\[0\]\.search\.keys"/),
    ]);
  });
});
