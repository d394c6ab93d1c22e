import { describe, expect, it } from 'vitest';
import { briefsOf, errorOf, faultsOf, load } from './folder.ts';

describe('a setting that is not implemented yet', () => {
  it.each([
    [
      'organizations: [{ id: a, domains: { d: { source: { kind: command } } } }]',
      'organizations[0].domains.d.source.kind',
    ],
    [
      'organizations: [{ id: a, domains: { d: { source: { kind: folder, path: /srv, workDir: h } } } }]',
      'organizations[0].domains.d.source.workDir',
    ],
  ])('is rejected by name: %s', async (yaml, key) => {
    const [fault, ...others] = await faultsOf(yaml);
    expect(others).toEqual([]);
    expect(fault).toMatchObject({ code: 'config_not_built', key });
    expect(fault?.where).toMatch(/^config\.yaml:1:\d+$/);
  });

  it('sets the code of the config error to config_not_built if there is no other error', async () => {
    expect(
      (await errorOf(load('organizations: [{ id: a, domains: { d: { source: { kind: command } } } }]'))).code,
    ).toBe('config_not_built');
  });

  it('is accepted with its default value, in any notation', async () => {
    await load(`
sites: []
server: { basePath: /, tls: { http2: true, certificates: [] }, readyAfter: 300s, shelf: true, markdown: true, headers: { preset: recommended, set: {} }, auth: { kind: none } }
admin: { hosts: [] }
metrics: { sites: 200 }
deploy: { parallel: 2 }
database: {}
rateLimits: { onFault: open }
staticExport: { signature: { required: false, publicKeys: [] }, renew: {} }
network: { allowPrivate: true }
features: { enforce: off, search: { origins: [] } }
search: { widget: false, mcp: false, memory: 393216KiB }
exportApi: { enabled: false, linkTtl: 60m, retention: none, store: { kind: disk } }
organizations: [{ id: a, domains: { docs: { hosts: [] } } }]
`);
  });

  it('is reported only as config_invalid if its value is invalid as well', async () => {
    const source = 'kind: folder, path: /srv, timeout: maybe';
    expect(await briefsOf(`organizations: [{ id: a, domains: { d: { source: { ${source} } } } }]`)).toEqual([
      'config_invalid organizations[0].domains.d.source.timeout config.yaml:1:78',
    ]);
  });
});
