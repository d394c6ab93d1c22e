import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHART, fetchHelm, helm, only, parseManifests } from '../helm/chart.ts';
import { openBench } from '../helpers/daemon.ts';
import { HAS_REGISTRY, Registry } from '../helpers/registry.ts';

const bench = openBench(afterAll);
const DASHBOARD = JSON.parse(readFileSync(join(CHART, 'files/dashboard.json'), 'utf8')) as {
  panels: { title: string; targets: { expr: string }[] }[];
};
beforeAll(fetchHelm, 120_000);

describe('the Grafana dashboard', () => {
  test('queries only metrics and labels that a running daemon has', async () => {
    const daemon = await bench.start({ exportApi: { enabled: true } });
    const text = await (await fetch(`${daemon.admin}/metrics`)).text();
    const known = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name));
    const queries = DASHBOARD.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));
    expect(queries.length).toBeGreaterThan(20);
    for (const { title, expr } of queries) {
      const names = expr.match(/\b(?:docshelf|process|nodejs)_\w+/g) ?? [];
      expect(names.length, title).toBeGreaterThan(0);
      for (const name of names) expect([...known], title).toContain(name.replace(/_bucket$/, ''));
      expect(expr, title).toContain('job=~"$job"');
    }
  });

  test('is in the ConfigMap of the chart unchanged', () => {
    const manifests = parseManifests(helm('template', 'docshelf', CHART, '--set', 'dashboard.enabled=true'));
    const { data, metadata } = only(manifests, 'ConfigMap', 'docshelf-dashboard');
    expect(metadata.labels.grafana_dashboard).toBe('1');
    expect(JSON.parse(data['docshelf.json'])).toEqual(DASHBOARD);
  });
});

describe('the chart in a registry', () => {
  test.runIf(HAS_REGISTRY)('is pushed with helm push, and rendered from there', async () => {
    const registry = await Registry.start({ tls: false, auth: 'none' });
    bench.onEnd(() => registry.stop());
    const folder = await bench.folder();
    helm('package', CHART, '--destination', folder);
    const place = `oci://${registry.host}/charts`;
    helm('push', join(folder, 'docshelf-0.1.0.tgz'), place, '--plain-http');
    const chart = [`${place}/docshelf`, '--version', '0.1.0', '--plain-http'];
    const pulled = parseManifests(helm('template', 'docshelf', ...chart));
    expect(pulled).toEqual(parseManifests(helm('template', 'docshelf', CHART)));
  });
});
