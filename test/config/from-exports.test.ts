import { describe, expect, it } from 'vitest';
import { deploySlice } from '../../src/app/slices.ts';
import { faultsOf, load } from './folder.ts';

const EXPORTS = 'exportApi: { enabled: true }';

describe('staticExport.from', () => {
  it('is "link" by default, and "exports" if the config sets this value', async () => {
    const fromExports = async (yaml: string) => deploySlice((await load(yaml)).config).fromExports;
    expect(await fromExports('staticExport: { enabled: true }')).toBe(false);
    expect(await fromExports(`${EXPORTS}\nstaticExport: { enabled: true, from: exports, version: v1 }`)).toBe(true);
  });

  it.each([
    ['if exports are disabled', 'staticExport: { from: exports }'],
    ['for a daemon that only runs jobs', 'exportApi: { enabled: true, role: worker }\nstaticExport: { from: exports }'],
    ['together with a link', `${EXPORTS}\nstaticExport: { from: exports, bundleUrl: "https://bundles.test/x.tar.gz" }`],
    [
      'together with an export service',
      `${EXPORTS}\nstaticExport: { from: exports, renew: { apiUrl: "https://api.test", keyFile: key, domain: a } }`,
    ],
  ])('rejects "exports" if other settings contradict this value: %s', async (_, yaml) => {
    const faults = await faultsOf(yaml);
    expect(faults.map(({ code, key }) => [code, key])).toContainEqual(['config_invalid', 'staticExport.from']);
  });
});
