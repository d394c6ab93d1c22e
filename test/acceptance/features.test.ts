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

test.each(['cloud', 'client-hosted', 'air-gapped'] as const)(
  'docshelf features reports the documented table for a %s deployment',
  async (type) => {
    const folder = await bench.folder();
    await bench.writeConfig(folder, { deployment: { type, domain: 'acme' }, search: {} });
    const report = (await bench.run(['features', '--json'], { cwd: folder })).json<FeatureReport>();
    expect(report).toMatchObject({ deploymentType: type, domain: 'acme' });
    expect(report.features.map(({ id }) => id)).toEqual(ROWS);
    expect(report.features.map(({ support, enabled }) => [support, enabled])).toEqual(TABLE[type]);
    for (const { name, reason } of report.features) expect([name, reason]).toEqual([/\S/, /\.$/].map(matching));
  },
);

const matching = (pattern: RegExp) => expect.stringMatching(pattern);
const esc = (text: string): string => text.replace(/[()"]/g, '\\$&');

describe('an air-gapped deployment', () => {
  test('turns off cloud features that the config enables, returns the same report from each interface, and applies a reload', async () => {
    const daemon = await bench.start({
      deployment: { type: 'air-gapped' },
      features: { search: true, assistant: { enabled: true }, analytics: false, apiPlayground: true },
    });
    const read = async (): Promise<FeatureReport> =>
      (await (await fetch(`${daemon.admin}/v1/features`)).json()) as FeatureReport;
    const report = await read();
    const stateOf = (id: string, { features } = report) => features.find((feature) => feature.id === id);
    for (const id of ['search', 'assistant']) {
      expect(stateOf(id)).toMatchObject({
        support: 'unavailable',
        enabled: false,
        reason: expect.stringMatching(new RegExp(`Overruled.*features\\.${id}.*no outbound network`)),
      });
    }
    expect(stateOf('analytics')).toMatchObject({ enabled: false, reason: expect.not.stringContaining('Overruled') });
    expect(stateOf('apiPlayground')).toMatchObject({ support: 'configurable', enabled: true });
    expect(await (await fetch(`${daemon.site}/_docshelf/features.json`)).json()).toEqual(report);
    const command = ['features', '--config', daemon.configFile];
    expect((await bench.run([...command, '--json'])).json()).toEqual(report);
    const { stdout } = await bench.run(command);
    for (const { name, support } of report.features) expect(stdout).toMatch(new RegExp(`${esc(name)} +${support}`));

    await daemon.rewriteConfig({ features: { apiPlayground: false }, staticExport: { enabled: false } });
    await daemon.until(({ state }) => state === 'off');
    const after = await read();
    expect(stateOf('apiPlayground', after)).toMatchObject({ enabled: false });
    expect(stateOf('staticExport', after)).toMatchObject({ enabled: false });
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
