import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { organizationsSlice } from '../../src/app/slices.ts';
import { loadConfig, pendingRestart } from '../../src/config/index.ts';
import { briefsOf, errorOf, faultsOf, folderWith, load } from './folder.ts';

const HEX = 'aB'.repeat(32);
const hex = (digit: string) => digit.repeat(64);

describe('search.model', () => {
  it.each(['builtin', 'off'])('accepts the keyword %s', async (word) => {
    expect((await load(`search: { model: ${word} }`)).config.search.model).toBe(word);
  });

  it('can be a folder relative to the config file, which must exist', async () => {
    const cwd = await folderWith({ 'conf/config.yaml': 'search: { model: ./builtin }' });
    const loading = () => loadConfig({ file: 'conf/config.yaml', env: {}, cwd });
    expect((await errorOf(loading())).faults).toMatchObject([{ key: 'search.model' }]);
    await mkdir(join(cwd, 'conf/builtin'));
    expect((await loading()).config.search.model).toBe(join(cwd, 'conf/builtin'));
  });

  it('needs a restart to apply a change of the key file of an endpoint', async () => {
    const yaml = 'search: { model: { url: "https://x/v1/embeddings", model: m, keyFile: key } }';
    const cwd = await folderWith({ 'config.yaml': yaml, key: 'first' });
    const loading = async () => (await loadConfig({ file: null, env: {}, cwd })).config;
    const before = await loading();
    await writeFile(join(cwd, 'key'), 'second');
    expect(pendingRestart(before, await loading())).toEqual(['search.model']);
  });

  it('can be an endpoint with a key from a watched file', async () => {
    const yaml = 'search: { model: { url: "https://x/v1/embeddings", model: m, keyFile: key } }';
    const cwd = await folderWith({ 'config.yaml': yaml });
    const loading = () => loadConfig({ file: null, env: {}, cwd });
    const error = await errorOf(loading());
    expect(error.faults).toMatchObject([{ key: 'search.model.keyFile', where: 'config.yaml:1:62' }]);
    expect(error.watchedFiles).toContain(join(cwd, 'key'));
    await writeFile(join(cwd, 'key'), 'k3y\n');
    const { model } = (await loading()).config.search;
    expect(model).toMatchObject({ url: 'https://x/v1/embeddings', model: 'm' });
    expect(typeof model === 'object' && model.keyFile?.text.reveal()).toBe('k3y');
    expect(JSON.stringify(model)).not.toContain('k3y');
  });

  it('can be an endpoint without a key', async () => {
    const { config } = await load('search: { model: { url: "https://x/v1/embeddings", model: m } }');
    expect(config.search.model).toMatchObject({ keyFile: null });
  });
});

describe('features.search', () => {
  const yaml = 'features: { search: { enabled: true, discoveryUrl: "https://x", keyFile: key } }';

  it('configures the hosted search with the key of its file', async () => {
    const { config, watchedFiles, cwd } = await load(yaml, { files: { key: ' svc_dsc_1 \n' } });
    expect(config.features.search).toMatchObject({ enabled: true, discoveryUrl: 'https://x' });
    expect(config.features.search.keyFile?.text.reveal()).toBe('svc_dsc_1');
    expect(watchedFiles).toContain(join(cwd, 'key'));
  });

  it.each([null, '', 'two words', 'ключ'])('rejects a key file that contains %j', async (content) => {
    const faults = await faultsOf(yaml, { files: { ...(content === null ? {} : { key: content }) } });
    expect(faults).toMatchObject([{ key: 'features.search.keyFile', where: 'config.yaml:1:65' }]);
  });

  it('requires discoveryUrl and keyFile together', async () => {
    expect(await briefsOf('features: { search: { discoveryUrl: "https://x" } }')).toEqual([
      'config_invalid features.search.discoveryUrl config.yaml:1:23',
    ]);
    const faults = await faultsOf('features: { search: { keyFile: key } }', { files: { key: 'k' } });
    expect(faults).toMatchObject([{ key: 'features.search.keyFile' }]);
  });
});

describe('organizations in the config', () => {
  it('become sites and keys, with hosts and digests in lower case', async () => {
    const { config } = await load(`
organizations:
  - id: Acme
    domains: { acme: { hosts: [Docs.Acme.dev] }, labs: {} }
    keys: [{ id: site, type: assistant, sha256: ${HEX} }]
`);
    expect(organizationsSlice(config)).toEqual([
      {
        id: 'Acme',
        plan: 'none',
        sites: [
          { domain: 'acme', hosts: ['docs.acme.dev'], source: null },
          { domain: 'labs', hosts: [], source: null },
        ],
        keys: [{ id: 'site', type: 'assistant', sha256: HEX.toLowerCase() }],
      },
    ]);
  });

  it.each([
    ['a domain', '{ id: a, domains: { x: {} } }, { id: b, domains: { x: {} } }', 'organizations[1].domains.x'],
    [
      'a host',
      '{ id: a, domains: { x: { hosts: [h.dev] } } }, { id: b, domains: { y: { hosts: [H.dev] } } }',
      'organizations[1].domains.y.hosts[0]',
    ],
    [
      'a host that is also a domain',
      '{ id: a, domains: { x: {} } }, { id: b, domains: { y: { hosts: [X] } } }',
      'organizations[1].domains.y.hosts[0]',
    ],
    [
      'a host in one site',
      '{ id: a, domains: { x: { hosts: [h.dev, h.dev] } } }',
      'organizations[0].domains.x.hosts[1]',
    ],
    ['an id', '{ id: a }, { id: A }', 'organizations[1].id'],
    [
      'a key',
      `{ id: a, keys: [{ id: k, type: admin, sha256: ${hex('a')} }] }, { id: b, keys: [{ id: k, type: assistant, sha256: ${hex('A')} }] }`,
      'organizations[1].keys[0].sha256',
    ],
  ])('must not contain the same value twice: %s', async (_, list, key) => {
    const [fault, ...others] = await faultsOf(`organizations: [${list}]`);
    expect(others).toEqual([]);
    expect(fault).toMatchObject({ code: 'config_invalid', key });
    expect(fault?.where).toMatch(/^config\.yaml:1:\d+$/);
    // The message names the place of both keys.
    expect(fault?.message).toMatch(/organizations\[\d\].* organizations\[0\].* \(config\.yaml:1:\d+\)/);
  });

  it('cannot be combined with search.keys', async () => {
    const keys = `search: { keys: [{ id: k, sha256: ${hex('a')} }] }`;
    expect((await load(keys)).config.search.keys).toEqual([{ id: 'k', sha256: hex('a') }]);
    expect(await briefsOf(`${keys}\norganizations: [{ id: a }]`)).toEqual([
      'config_invalid search.keys config.yaml:1:11',
    ]);
  });
});
