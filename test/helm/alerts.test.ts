import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { defineMetrics } from '../../src/http/metrics/metric-set.ts';
import { fetchHelm, type Manifest, only, ROOT, templateWith } from './chart.ts';

const alertsOf = (...settings: string[]): Manifest[] =>
  only(
    templateWith('serviceMonitor.enabled=true', 'prometheusRule.enabled=true', 'exportApi.enabled=true', ...settings),
    'PrometheusRule',
  ).spec.groups[0].rules;

let rules: Manifest[] = [];
beforeAll(() => {
  fetchHelm();
  rules = alertsOf('sites[0].domain=acme');
}, 120_000);

describe('alerts of the chart', () => {
  it('use only metrics and labels that docshelf has', () => {
    const registry = new Registry();
    defineMetrics(registry);
    const metrics = new Map(
      registry
        .getMetricsAsArray()
        .map((metric) => [metric.name, (metric as unknown as { labelNames: string[] }).labelNames]),
    );
    const ofScrape = new Set(['namespace', 'job', 'component', 'pod']);
    expect(rules.length).toBeGreaterThan(8);
    for (const { alert, expr } of rules) {
      const used = [...expr.matchAll(/\b(docshelf_[a-z_]+|up)\{([^}]*)\}/g)];
      expect(used.length, alert).toBeGreaterThan(0);
      for (const [, name, labels] of used) {
        if (name === 'up') continue;
        const known = name.replace(/_bucket$/, '');
        expect([...metrics.keys()], alert).toContain(known);
        const named = [...labels.matchAll(/(\w+)!?="/g)].map(([, label]) => label ?? '');
        expect(
          named.filter((label) => !ofScrape.has(label) && !metrics.get(known)?.includes(label)),
          alert,
        ).toEqual([]);
      }
    }
  });

  it('have exactly one entry each in docs/runbook.md', () => {
    const runbook = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8');
    const entries = [...runbook.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(entries.sort()).toEqual(rules.map(({ alert }) => alert).sort());
    for (const { alert, annotations } of rules) {
      expect(annotations.runbook_url).toBe(`https://docshelf.example/runbook#${alert.toLowerCase()}`);
    }
  });

  it('are limited to one release, and to one site if there are several', () => {
    const single = alertsOf();
    expect(single).toEqual(rules);
    for (const { alert, expr, labels, annotations } of [...rules, ...single]) {
      expect(labels, alert).toMatchObject({ release: 'docshelf', namespace: 'docs' });
      expect(annotations.summary, alert).toMatch(/^docshelf: /);
      for (const [, of] of expr.matchAll(/\b(?:docshelf_[a-z_]+|up)\{([^}]*)\}/g)) {
        expect(of, alert).toMatch(/^namespace="docs",job="docshelf"/);
      }
    }
    const ofSites = rules.filter(({ annotations }) => annotations.summary.includes('$labels.site'));
    expect(ofSites.map(({ alert }) => alert)).toEqual([
      'DocshelfSiteWaiting',
      'DocshelfStale',
      'DocshelfFetchFailing',
      'DocshelfBundleRefused',
      'DocshelfVersionsDiffer',
      'DocshelfServerErrors',
      'DocshelfSearchFailing',
      'DocshelfSearchWithoutResults',
      'DocshelfSearchIndexMissing',
      'DocshelfVectorsWaiting',
      'DocshelfExportsFailing',
    ]);
    // An aggregation keeps the label that the sentence names.
    for (const { alert, expr } of ofSites) {
      for (const [, by] of expr.matchAll(/\b(?:max|min|sum|count) (by \([^)]*\))?/g))
        expect(by, alert).toMatch(/\bsite\b/);
    }
  });

  it('also read metrics of pods that are not ready', () => {
    const manifests = templateWith('serviceMonitor.enabled=true');
    const service = only(manifests, 'Service', 'docshelf-metrics');
    const monitor = only(manifests, 'ServiceMonitor').spec;
    expect(service.spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true });
    expect(service.metadata.labels).toMatchObject(monitor.selector.matchLabels);
    expect(monitor.endpoints[0].port).toBe(service.spec.ports[0].name);
  });
});
