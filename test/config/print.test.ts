import { describe, expect, it } from 'vitest';
import { printConfig } from '../../src/config/index.ts';
import { CONFIG_KEYS } from '../../src/config/schema-node.ts';
import { load } from './folder.ts';

const YAML = `
staticExport:
  bundleUrl: https://bundles.example.com/a.tar.gz?signature=canary
  version: 3.10
admin: { token: canary-canary-canary }
network: { proxy: "http://user:canary@proxy.example.com:3128" }
`;

describe('printConfig()', () => {
  it('shows every key with its effective value and its origin', async () => {
    const { settings } = printConfig(await load(YAML, { env: { DOCSHELF__SERVER__PORT: '81' } }));
    expect(Object.keys(settings)).toEqual(CONFIG_KEYS.map(({ path }) => path.join('.')));
    expect(settings['staticExport.version']).toEqual({ value: '3.10', origin: 'config.yaml:4:3' });
    expect(settings['deployment.domain']).toEqual({ value: null, origin: 'default' });
    expect(settings['server.port']).toEqual({ value: 81, origin: 'environment DOCSHELF__SERVER__PORT' });
    expect(settings['server.cacheBytes']).toEqual({ value: 134_217_728, origin: 'default' });
    expect(settings['network.proxy']?.value).toBe('http://proxy.example.com:3128/');
  });

  it('redacts secrets', async () => {
    const printed = printConfig(await load(YAML));
    expect(JSON.stringify(printed)).not.toContain('canary');
    expect(printed.settings['staticExport.bundleUrl']?.value).toBe('[redacted]');
    expect(printed.settings['admin.token']).toEqual({ value: '[redacted]', origin: 'config.yaml:5:10' });
  });

  it('shows the keywords of network.proxy unchanged', async () => {
    expect(printConfig(await load('')).settings['network.proxy']?.value).toBe('env');
  });
});
