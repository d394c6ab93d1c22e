import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startS3Server, storeAt } from '../export/stores/s3-server.ts';
import { CHART, fetchHelm, helm, only, parseManifests } from '../helm/chart.ts';
import { type DaemonProcess, openBench, waitFor } from '../helpers/daemon.ts';
import { httpServer } from '../helpers/local-server.ts';
import { bundle } from './bundles.ts';
import { organization } from './export-service.ts';
import { siteEntry, untilSearchable } from './start.ts';

const bench = openBench(afterAll);
const DASHBOARD = JSON.parse(readFileSync(join(CHART, 'files/dashboard.json'), 'utf8')) as {
  panels: { title: string; targets: { expr: string; legendFormat: string }[] }[];
};
const TLS = join(import.meta.dirname, '../fixtures/tls');
/** Labels that Prometheus adds to each scrape. */
const LABELS_OF_SCRAPE = ['job', 'instance'];
beforeAll(fetchHelm, 120_000);

/** Starts a daemon that has a value for each metric: two sites, a link that expires, a certificate, a bucket, and errors. */
async function startWithEverything(): Promise<DaemonProcess> {
  const origin = await httpServer((_, response) => response.end(bundle('one')));
  const store = await startS3Server();
  const link = `${origin.origin}/docs-2024-06-01.tar.gz?X-Amz-Date=20240601T000000Z&X-Amz-Expires=604800`;
  const staticExport = { enabled: true, bundleUrl: link };
  const sites = [siteEntry('acme', { staticExport }), siteEntry('beta', { staticExport })];
  const daemon = await bench.start({
    staticExport: null,
    sites,
    search: { enabled: true },
    exportApi: { enabled: true, store: storeAt(store.endpoint) },
    api: { port: 0, tls: { certFile: join(TLS, 'certificate.pem'), keyFile: join(TLS, 'key.pem') } },
    organizations: [organization('acme-inc', { acme: { source: { kind: 'folder', path: '.' } }, beta: {} })],
  });
  await daemon.until(({ state }) => state === 'ready');
  await untilSearchable(daemon);
  await writeFile(join(daemon.dataDir, 'sites/acme/inbox/docs-2024-07-01.tar.gz'), 'no archive');
  await (await fetch(`${daemon.site}/acme/_docshelf/search?q=one`)).text();
  return daemon;
}

/** Labels of each metric that has a value. */
function labelsOf(metrics: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, name = '', labels = ''] of metrics.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = found.get(name) ?? new Set(LABELS_OF_SCRAPE);
    for (const [, label = ''] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label);
    found.set(name, known);
  }
  return found;
}

describe('the Grafana dashboard', () => {
  test('queries only metrics and labels that a running daemon has, and queries every search metric', async () => {
    const daemon = await startWithEverything();
    const known = await waitFor(
      async () => {
        const labels = labelsOf(await (await fetch(`${daemon.admin}/metrics`)).text());
        return labels.has('docshelf_errors_total') ? labels : null;
      },
      () => `the daemon rejects no bundle: ${daemon.log()}`,
    );
    const queries = DASHBOARD.panels.flatMap(({ title, targets }) => targets.map((target) => ({ title, ...target })));
    expect(queries.length).toBeGreaterThan(20);
    for (const { title, expr, legendFormat } of queries) {
      const names = expr.match(/\b(?:docshelf|process|nodejs)_\w+/g) ?? [];
      expect(names.length, title).toBeGreaterThan(0);
      expect([...known.keys()], title).toEqual(expect.arrayContaining(names));
      for (const [, name = '', selectors = ''] of expr.matchAll(/(\w+)\{([^}]*)\}/g)) {
        const used = Array.from(selectors.matchAll(/(\w+)(?:=~|!~|!=|=)"/g), ([, label]) => label);
        expect(used, title).toContain('job');
        expect([...(known.get(name) ?? [])], title).toEqual(expect.arrayContaining(used));
      }
      // An aggregation keeps only its labels, which every metric of the query has.
      const kept = Array.from(expr.matchAll(/\bby \(([^)]*)\)/g), ([, labels = '']) => labels.split(', ')).flat();
      for (const name of names) expect([...(known.get(name) ?? [])], title).toEqual(expect.arrayContaining(kept));
      const shown = Array.from(legendFormat.matchAll(/\{\{(\w+)\}\}/g), ([, label]) => label);
      const available = /\b(?:sum|min|max|count)\b/.test(expr) ? kept : [...(known.get(names[0] ?? '') ?? [])];
      expect(available, title).toEqual(expect.arrayContaining(shown));
    }
    const searchMetrics = [...known.keys()].filter((name) => /^docshelf_search\w+(?<!_count|_sum)$/.test(name));
    const drawn = queries.map(({ expr }) => expr).join();
    expect(searchMetrics.filter((name) => !drawn.includes(name))).toEqual([]);
  });

  test('is in the ConfigMap of the chart unchanged', () => {
    const manifests = parseManifests(helm('template', 'docshelf', CHART, '--set', 'dashboard.enabled=true'));
    const { data, metadata } = only(manifests, 'ConfigMap', 'docshelf-dashboard');
    expect(metadata.labels.grafana_dashboard).toBe('1');
    expect(JSON.parse(data['docshelf.json'])).toEqual(DASHBOARD);
  });
});
