import { afterEach, describe, expect, test } from 'vitest';
import type { FeatureReport } from '../../src/domain/feature.ts';
import { openBench } from '../helpers/daemon.ts';

const bench = openBench(afterEach);

const esc = (text: string): string => text.replace(/[()"]/g, '\\$&');

describe('an air-gapped deployment', () => {
  test('turns off cloud features that the config enables, and returns the same feature report from the API, the site and the command', async () => {
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
});
