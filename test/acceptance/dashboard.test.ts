import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHART, fetchHelm, helm, only, parseManifests } from '../helm/chart.ts';
import { openBench } from '../helpers/daemon.ts';

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
