import { describe, expect, it } from 'vitest';
import { briefsOf, errorOf, faultsOf, load } from './folder.ts';

describe('what is not built yet', () => {
  it.each([
    ['server: { basePath: /docs }', 'server.basePath'],
    ['server: { workers: 2 }', 'server.workers'],
    ['server: { tls: { certFile: a } }', 'server.tls.certFile'],
    ['staticExport: { minVersion: v1 }', 'staticExport.minVersion'],
    ['features: { enforce: report }', 'features.enforce'],
    ['features: { analytics: { origins: ["https://x"] } }', 'features.analytics.origins'],
    ['search: { widget: replace }', 'search.widget'],
    ['search: { mcp: true }', 'search.mcp'],
    ['exportApi: { queue: { kind: postgres } }', 'exportApi.queue.kind'],
  ])('%s is refused by name', async (yaml, key) => {
    const [fault, ...others] = await faultsOf(yaml);
    expect(others).toEqual([]);
    expect(fault).toMatchObject({ code: 'config_not_built', key });
    expect(fault?.where).toMatch(/^config\.yaml:1:\d+$/);
  });

  it('gives the whole error its code where nothing else is wrong', async () => {
    expect((await errorOf(load('server: { workers: 2 }'))).code).toBe('config_not_built');
  });

  it('loads where a key asks for what holds anyway, however it is written', async () => {
    await load(`
server: { basePath: /, workers: 1, tls: {} }
staticExport: { signature: { required: false, publicKeys: [] }, renew: {} }
network: { allowPrivate: true }
features: { enforce: off, search: { origins: [] } }
search: { widget: false, mcp: false }
exportApi: { enabled: false, linkTtl: 60m, retention: none, store: { kind: disk } }
organizations: [{ id: a, domains: { docs: { hosts: [] } } }]
`);
  });

  it('is reported once where the value is wrong as well', async () => {
    expect(await briefsOf('server: { workers: many }')).toEqual(['config_invalid server.workers config.yaml:1:11']);
  });
});
