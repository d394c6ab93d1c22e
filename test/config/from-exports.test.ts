import { describe, expect, it } from 'vitest';
import { deploySlice } from '../../src/app/slices.ts';
import { loadConfig } from '../../src/config/index.ts';
import { faultsOf, folderWith } from './folder.ts';

const EXPORTS = 'exportApi: { enabled: true }';

describe('staticExport.from', () => {
  it('is "link" by default, and "exports" if the config sets this value', async () => {
    const fromExports = async (yaml: string) => {
      const cwd = await folderWith({ 'config.yaml': yaml });
      return deploySlice((await loadConfig({ file: null, env: {}, cwd })).config).fromExports;
    };
    expect(await fromExports('staticExport: { enabled: true }')).toBe(false);
    expect(await fromExports(`${EXPORTS}\nstaticExport: { enabled: true, from: exports, version: v1 }`)).toBe(true);
  });

  it.each([
    ['if exports are disabled', 'staticExport: { from: exports }', 'staticExport.from'],
    [
      'for a daemon that only runs jobs',
      'exportApi: { enabled: true, role: worker }\nstaticExport: { from: exports }',
      'staticExport.from',
    ],
    [
      'together with a link',
      `${EXPORTS}\nstaticExport: { from: exports, bundleUrl: "https://bundles.test/x.tar.gz" }`,
      'staticExport.from',
    ],
    [
      'together with an export service',
      `${EXPORTS}\nstaticExport: { from: exports, renew: { apiUrl: "https://api.test", keyFile: key, domain: a } }`,
      'staticExport.from',
    ],
  ])('rejects "exports" %s', async (_, yaml, key) => {
    const faults = await faultsOf(yaml);
    expect(faults.map((fault) => [fault.code, fault.key])).toContainEqual(['config_invalid', key]);
  });
});
