import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renewSlice } from '../../src/app/slices.ts';
import { faultsOf, load } from './folder.ts';

const BASE = 'apiUrl: "https://api.test", keyFile: key';

describe('staticExport.renew', () => {
  it('reads its key from a watched file, and takes the domain from the deployment', async () => {
    const yaml = `deployment: { domain: acme }\nstaticExport: { renew: { ${BASE}, every: 30d } }\n`;
    const { config, watchedFiles, cwd } = await load(yaml, { files: { key: 'svc_canary\n' } });
    const renew = renewSlice(config);
    expect(renew).toMatchObject({ apiUrl: 'https://api.test', domain: 'acme', jobId: null, everyMs: 30 * 86_400_000 });
    expect(renew?.key.reveal()).toBe('svc_canary');
    expect(JSON.stringify(config)).not.toContain('canary');
    expect(watchedFiles).toContain(join(cwd, 'key'));
  });

  it.each([
    ['an address without a key', 'staticExport: { renew: { apiUrl: "https://api.test", domain: acme } }', 'apiUrl'],
    ['an interval without a service', 'staticExport: { renew: { every: 1h } }', 'every'],
    ['neither domain nor job', `staticExport: { renew: { ${BASE} } }`, 'apiUrl'],
    [
      'an air-gapped deployment',
      `deployment: { type: air-gapped, domain: acme }\nstaticExport: { renew: { ${BASE} } }`,
      'apiUrl',
    ],
    ['every with a version', `staticExport: { version: v1, renew: { ${BASE}, domain: a, every: 1h } }`, 'every'],
    [
      'every with a digest',
      `staticExport: { sha256: ${'a'.repeat(64)}, renew: { ${BASE}, domain: a, every: 1h } }`,
      'every',
    ],
    ['every with a job', `staticExport: { renew: { ${BASE}, jobId: se_0123456789abcdef, every: 1h } }`, 'every'],
  ])('rejects an incomplete or contradictory combination of settings: %s', async (_, yaml, key) => {
    const faults = await faultsOf(yaml, { files: { key: 'svc_x' } });
    expect(faults.map(({ code, key: name }) => [code, name])).toEqual([
      ['config_invalid', `staticExport.renew.${key}`],
    ]);
  });

  it('rejects a missing key file', async () => {
    const [fault, ...others] = await faultsOf(`staticExport: { renew: { ${BASE}, domain: acme } }`);
    expect(others).toEqual([]);
    expect(fault).toMatchObject({ code: 'config_invalid', key: 'staticExport.renew.keyFile' });
  });
});
