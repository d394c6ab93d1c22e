import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { organizationsSlice, s3Slice } from '../../src/app/slices.ts';
import { loadConfig, printConfig } from '../../src/config/index.ts';
import { Secret } from '../../src/domain/secret.ts';
import { briefsOf, errorOf, faultsOf, folderWith, load } from './folder.ts';

const HEX = 'ab'.repeat(32);

describe('the exportApi section', () => {
  it('reads an S3 store and hides its credentials', async () => {
    const { config } = await load(`exportApi:
  store: { kind: s3, bucket: b, region: r, endpoint: "https://s3.corp", pathStyle: true, prefix: p/, accessKeyId: AK1, secretAccessKey: SK1 }`);
    const store = s3Slice(config);
    expect(store).toMatchObject({ bucket: 'b', region: 'r', endpoint: 'https://s3.corp', pathStyle: true });
    expect(store?.credentials?.secretAccessKey.reveal()).toBe('SK1');
    expect(JSON.stringify(store)).not.toMatch(/AK1|SK1/);
  });

  it('uses the encryption of the bucket by default', async () => {
    const encryptionOf = async (words: string) =>
      s3Slice((await load(`exportApi: { store: { kind: s3, bucket: b${words} } }`)).config)?.encryption;
    expect(await encryptionOf('')).toBeNull();
    expect(await encryptionOf(', encryption: s3')).toEqual({ algorithm: 'AES256', kmsKeyId: null });
    expect(await encryptionOf(', encryption: kms, kmsKeyId: k')).toEqual({ algorithm: 'aws:kms', kmsKeyId: 'k' });
  });

  it.each([
    ['exportApi: { store: { kind: s3 } }', 'config_invalid exportApi.store.kind config.yaml:1:23'],
    [
      'exportApi: { store: { kind: s3, bucket: b, accessKeyId: a } }',
      'config_invalid exportApi.store.accessKeyId config.yaml:1:44',
    ],
    [
      'exportApi: { store: { kind: s3, bucket: b, encryption: s3, kmsKeyId: a } }',
      'config_invalid exportApi.store.kmsKeyId config.yaml:1:60',
    ],
    ['exportApi: { concurrency: 0 }', 'config_invalid exportApi.concurrency config.yaml:1:14'],
    ['exportApi: { signingKeyFile: ./none }', 'config_invalid exportApi.signingKeyFile config.yaml:1:14'],
  ])('is rejected with the invalid config %s', async (yaml, brief) => {
    expect(await briefsOf(yaml)).toEqual([brief]);
  });

  it('requires api.publicUrl only if the API listens beyond localhost', async () => {
    await load('{ api: { host: "::1" }, exportApi: { enabled: true } }');
    await load('{ api: { host: 0.0.0.0, publicUrl: "https://x" }, exportApi: { enabled: true } }');
    await load('{ api: { host: 0.0.0.0 } }');
    expect(await briefsOf('{ api: { host: 0.0.0.0 }, exportApi: { enabled: true } }')).toEqual([
      'config_invalid api.host config.yaml:1:10',
    ]);
  });
});

describe('the source of a site', () => {
  it('can be a folder or Markdown, with a path relative to the config file', async () => {
    const { config, file } = await load(`organizations:
  - { id: a, domains: { one: { source: { kind: folder, path: ./site } }, two: { source: { kind: markdown, path: /docs } }, three: {} } }`);
    expect(organizationsSlice(config)[0]?.sites).toEqual([
      { domain: 'one', hosts: [], source: { kind: 'folder', path: join(String(file), '../site') } },
      { domain: 'two', hosts: [], source: { kind: 'markdown', path: '/docs' } },
      { domain: 'three', hosts: [], source: null },
    ]);
  });

  it('can be a command with secret variables, in a folder relative to the config file', async () => {
    const source =
      'kind: command, workDir: ./repo, command: [npm, run, build], output: dist, environment: { KEY: c4n4ry }';
    const loaded = await load(`organizations: [{ id: a, domains: { d: { source: { ${source} } } } }]`);
    const { cwd, config } = loaded;
    const settings = organizationsSlice(config)[0]?.sites[0]?.source;
    const workDir = join(cwd, 'repo');
    expect(settings).toMatchObject({ kind: 'command', workDir, command: ['npm', 'run', 'build'], output: 'dist' });
    expect(settings).toMatchObject({ environment: { KEY: new Secret('c4n4ry') }, timeoutMs: 900_000 });
    expect(JSON.stringify([printConfig(loaded), config])).not.toContain('c4n4ry');
  });

  it.each([
    ['output: ../dist', 'output config.yaml:1:95'],
    ['output: /srv/dist', 'output config.yaml:1:95'],
    ['output: a/../../b', 'output config.yaml:1:95'],
    ['output: a, environment: { A-B: x }', 'environment.A-B config.yaml:1:121'],
    ['output: a, environment: { A: "x\\0" }', 'environment.A config.yaml:1:121'],
    ['output: a, timeout: 2d', 'timeout config.yaml:1:106'],
  ])('is rejected if it is a command with the invalid setting { %s }', async (setting, brief) => {
    const source = `kind: command, workDir: ./r, command: [a], ${setting}`;
    expect(await briefsOf(`organizations: [{ id: a, domains: { d: { source: { ${source} } } } }]`)).toEqual([
      `config_invalid organizations[0].domains.d.source.${brief}`,
    ]);
  });

  it('can be a live site with credentials and with limits for the crawl', async () => {
    const source =
      'kind: crawl, url: "https://docs.acme.dev/", cookieFile: ./cookie, headersFile: ./headers, limits: { pages: 7, pageBytes: 1MiB }';
    const { config, watchedFiles, cwd } = await load(
      `organizations: [{ id: a, domains: { d: { source: { ${source} } } } }]`,
      { files: { cookie: 'session=1\n', headers: '# a comment\nX-Key: v\n' } },
    );
    expect(organizationsSlice(config)[0]?.sites[0]?.source).toMatchObject({
      ...{ kind: 'crawl', url: 'https://docs.acme.dev/', cookieFile: join(cwd, 'cookie'), render: null },
      headersFile: join(cwd, 'headers'),
      limits: { pagesMax: 7, depthMax: 100, pageBytesMax: 1024 ** 2, requestTimeoutMs: 120_000 },
    });
    expect(watchedFiles).toEqual(expect.arrayContaining([join(cwd, 'cookie'), join(cwd, 'headers')]));
  });

  it('can be a live site that Chromium renders, with the settings of exportApi.browser', async () => {
    const { config } = await load(`
exportApi: { browser: { sandbox: off, tabs: 2, pageTimeout: 5s, verify: off } }
organizations: [{ id: a, domains: { d: { source: { kind: crawl, url: "https://x", render: chromium, scripts: drop } } } }]`);
    expect(organizationsSlice(config)[0]?.sites[0]?.source).toMatchObject({ render: { scripts: 'drop' } });
    expect(config.exportApi.browser).toEqual({ sandbox: 'off', tabs: 2, pageTimeoutMs: 5_000, verify: 'off' });
  });

  it.each([
    ['kind: crawl', 'config_invalid organizations[0].domains.d.source config.yaml:1:42'],
    [
      'kind: crawl, url: "https://x", allowAddresses: [10.0.0.0/99]',
      'config_invalid organizations[0].domains.d.source.allowAddresses[0] config.yaml:1:100',
    ],
    [
      'kind: crawl, url: "https://x", bearerFile: ./none',
      'config_invalid organizations[0].domains.d.source.bearerFile config.yaml:1:83',
    ],
    [
      'kind: crawl, url: "https://x", headersFile: ./none',
      'config_invalid organizations[0].domains.d.source.headersFile config.yaml:1:83',
    ],
  ])('is rejected with the invalid settings { %s }', async (source, brief) => {
    expect(await briefsOf(`organizations: [{ id: a, domains: { d: { source: { ${source} } } } }]`)).toEqual([brief]);
  });

  it.each([
    ['folder', ['path']],
    ['markdown', ['path']],
    ['crawl', ['url']],
    ['command', ['workDir', 'command', 'output']],
  ])('requires, if its kind is %s, the settings %s', async (kind, needs) => {
    const faults = await faultsOf(`organizations: [{ id: a, domains: { d: { source: { kind: ${kind} } } } }]`);
    const key = 'organizations[0].domains.d.source';
    expect(faults.map(({ where, message }) => [where, message])).toEqual(
      needs.map((need) => ['config.yaml:1:42', `${key} has kind ${kind}, which needs ${need}; set ${need}`]),
    );
  });
});

describe('organizationsFile', () => {
  const yaml = 'organizationsFile: ./orgs.yaml';
  const organizations = `organizations: [{ id: a, plan: enterprise, keys: [{ id: k, type: admin, sha256: ${HEX} }] }]`;

  it('contains the organizations, and is watched', async () => {
    const { config, watchedFiles, cwd } = await load(yaml, { files: { 'orgs.yaml': organizations } });
    expect(config.organizations).toMatchObject([{ id: 'a', plan: 'enterprise', keys: [{ id: 'k', type: 'admin' }] }]);
    expect(watchedFiles).toContain(join(cwd, 'orgs.yaml'));
  });

  it('is named together with the line in an error about its content', async () => {
    const faults = await faultsOf(yaml, { files: { 'orgs.yaml': 'organizations:\n  - { id: a, plam: x }\n' } });
    expect(faults).toMatchObject([{ key: 'organizations[0].plam', where: './orgs.yaml:2:14' }]);
  });

  it('must not contain keys other than organizations', async () => {
    const faults = await faultsOf(yaml, { files: { 'orgs.yaml': `admin: { token: t }\n${organizations}` } });
    expect(faults).toMatchObject([{ key: 'admin.token', where: './orgs.yaml:1:10' }]);
  });

  it('causes an error if it cannot be read, but is still watched', async () => {
    const cwd = await folderWith({ 'config.yaml': yaml });
    const error = await errorOf(loadConfig({ file: null, env: {}, cwd }));
    expect(error.faults).toMatchObject([{ key: 'organizationsFile', where: 'config.yaml:1:1' }]);
    expect(error.watchedFiles).toContain(join(cwd, 'orgs.yaml'));
    await writeFile(join(cwd, 'orgs.yaml'), organizations);
    await chmod(join(cwd, 'orgs.yaml'), 0o644);
    await loadConfig({ file: null, env: {}, cwd });
  });

  it('cannot be combined with organizations', async () => {
    const faults = await faultsOf(`${yaml}\norganizations: [{ id: b }]`, { files: { 'orgs.yaml': organizations } });
    expect(faults).toMatchObject([{ key: 'organizationsFile' }]);
  });
});
