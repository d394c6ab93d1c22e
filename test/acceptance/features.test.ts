import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { FeatureReport } from '../../src/domain/feature.ts';
import { openBench } from '../helpers/daemon.ts';
import { bundle } from './bundles.ts';
import { startOrigin } from './origin.ts';

const bench = openBench(afterEach);

const ROWS = ['search', 'assistant', 'analytics', 'apiPlayground', 'staticExport', 'localSearch'];
/** Support by type, and the defaults of features. */
const TABLE = {
  cloud: [
    ['available', true],
    ['available', true],
    ['available', true],
    ['available', true],
    ['available', true],
    ['configurable', true],
  ],
  'client-hosted': [
    ['configurable', false],
    ['configurable', false],
    ['configurable', false],
    ['available', true],
    ['available', true],
    ['configurable', true],
  ],
  'air-gapped': [
    ['unavailable', false],
    ['unavailable', false],
    ['unavailable', false],
    ['configurable', false],
    ['available', true],
    ['configurable', true],
  ],
} as const;

describe.each(['cloud', 'client-hosted', 'air-gapped'] as const)('the feature report of a %s deployment', (type) => {
  test('has the values of the documented table, and is the same on the site, the admin listener and the command line', async () => {
    const daemon = await bench.start({ deployment: { type, domain: 'acme' }, search: {} });
    const onAdmin = (await (await fetch(`${daemon.admin}/v1/features`)).json()) as FeatureReport;
    const onSite = await (await fetch(`${daemon.site}/_docshelf/features.json`)).json();
    const command = await bench.run(['features', '--json', '--config', daemon.configFile]);
    expect(onSite).toEqual(onAdmin);
    expect(command.json()).toEqual(onAdmin);
    expect(onAdmin).toMatchObject({ deploymentType: type, domain: 'acme' });
    expect(onAdmin.features.map(({ id }) => id)).toEqual(ROWS);
    expect(onAdmin.features.map(({ support, enabled }) => [support, enabled])).toEqual(TABLE[type]);
    for (const { name, reason } of onAdmin.features) {
      expect(name).toMatch(/\S/);
      expect(reason).toMatch(/\.$/);
    }
    const { stdout } = await bench.run(['features', '--config', daemon.configFile]);
    for (const { name, support } of onAdmin.features) expect(stdout).toMatch(new RegExp(`${esc(name)} +${support}`));
  });
});

const esc = (text: string): string => text.replace(/[()"]/g, '\\$&');

describe('an air-gapped deployment', () => {
  test('overrules cloud features of the config, and reports the overruled features', async () => {
    const daemon = await bench.start({
      deployment: { type: 'air-gapped' },
      features: { search: true, assistant: { enabled: true }, analytics: false, apiPlayground: true },
    });
    const { features } = (await (await fetch(`${daemon.admin}/v1/features`)).json()) as FeatureReport;
    const stateOf = (id: string) => features.find((feature) => feature.id === id);
    for (const id of ['search', 'assistant']) {
      expect(stateOf(id)).toMatchObject({
        support: 'unavailable',
        enabled: false,
        reason: expect.stringMatching(new RegExp(`Overruled.*features\\.${id}.*no outbound network`)),
      });
    }
    expect(stateOf('analytics')).toMatchObject({ enabled: false, reason: expect.not.stringContaining('Overruled') });
    expect(stateOf('apiPlayground')).toMatchObject({ support: 'configurable', enabled: true });
  });

  test('contacts only hosts that network.allowedHosts lists', async () => {
    const server = await startOrigin(bench, { '/docs-2024-06-01.tar.gz': bundle('june') });
    const deployment = { type: 'air-gapped' };
    const link = `${server.origin}/docs-2024-06-01.tar.gz`;
    const folder = await bench.folder();
    await writeFile(join(folder, 'link'), link);
    for (const [key, value] of [
      ['bundleUrl', link],
      ['bundleUrlFile', './link'],
    ] as const) {
      await bench.writeConfig(folder, { deployment, staticExport: { [key]: value } });
      const check = await bench.run(['config', 'check', '--json'], { cwd: folder });
      expect([check.code, check.stdout]).toEqual([78, expect.stringContaining(`staticExport.${key} contains a host`)]);
    }
    const daemon = await bench.start({ deployment }, { folder });
    await daemon.rewriteConfig({ staticExport: { bundleUrlFile: './link' } });
    const { lastReload } = await daemon.until((status) => status.lastReload?.ok === false);
    expect(lastReload?.error).toContain('staticExport.bundleUrlFile contains a host');
    expect(server.requests).toHaveLength(0);
    await daemon.rewriteConfig({ network: { allowedHosts: ['127.0.0.1'] } });
    await daemon.untilServing('2024-06-01');
  });
});

test('a reload applies a feature that the config turns on or off', async () => {
  const daemon = await bench.start({ features: { assistant: true, apiPlayground: false } });
  const enabled = async (): Promise<Record<string, boolean>> => {
    const { features } = (await (await fetch(`${daemon.admin}/v1/features`)).json()) as FeatureReport;
    return Object.fromEntries(features.map((feature) => [feature.id, feature.enabled]));
  };
  expect(await enabled()).toMatchObject({ assistant: true, apiPlayground: false, staticExport: true });
  await daemon.rewriteConfig({ features: { assistant: false }, staticExport: { enabled: false } });
  await daemon.until(({ state }) => state === 'off');
  expect(await enabled()).toMatchObject({ assistant: false, staticExport: false });
});
