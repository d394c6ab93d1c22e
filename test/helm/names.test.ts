import { beforeAll, describe, expect, it } from 'vitest';
import { CHART, configOf, fetchHelm, helm, type Manifest, only, parseManifests, templateWith } from './chart.ts';
import { manifestFaults } from './manifest-faults.ts';

beforeAll(fetchHelm, 120_000);

const release = (name: string, namespace: string, ...settings: string[]): Manifest[] =>
  parseManifests(
    helm('template', name, CHART, '--namespace', namespace, ...settings.flatMap((setting) => ['--set', setting])),
  );

describe('resource names of the chart', () => {
  it('stay text even if a YAML parser would read them as numbers', async () => {
    const settings = ['fullnameOverride=docs', 'serviceMonitor.enabled=true', 'prometheusRule.enabled=true'];
    const manifests = release('1e3', '123', ...settings);
    expect((await Promise.all(manifests.map(manifestFaults))).flat()).toEqual([]);
    for (const { metadata } of manifests) {
      expect(metadata.namespace).toBe('123');
      expect(metadata.labels['app.kubernetes.io/instance']).toBe('1e3');
    }
    expect(only(manifests, 'ServiceMonitor').spec.namespaceSelector.matchNames).toEqual(['123']);
  });

  it.each([
    ['docs.v1', 'docs-v1-docshelf'],
    [`${'a'.repeat(39)}.bbb`, 'a'.repeat(39)],
    [`${'a'.repeat(53)}`, 'a'.repeat(40)],
  ])('are valid names of a Service for the release name %s', (name, expected) => {
    expect(release(name, 'docs').filter(({ kind }) => kind === 'Service')[0].metadata.name).toBe(expected);
  });

  it('are accepted by the admin listener in Host headers, in addition to configured hosts', () => {
    const { admin } = configOf(release('docs', 'acme', 'config.admin.hosts={docs.internal}'), 'docs-docshelf');
    const services = ['docs-docshelf', 'docs-docshelf-metrics', 'docs-docshelf-export'];
    const names = services.flatMap((name) => [
      name,
      `${name}.acme`,
      `${name}.acme.svc`,
      `${name}.acme.svc.cluster.local`,
    ]);
    expect(admin.hosts.toSorted()).toEqual(['docs.internal', ...names].toSorted());
  });

  it('are the same each time the chart is rendered', () => {
    const settings = ['exportApi.enabled=true', 'config.admin.token=abcdefghijklmnop'];
    expect(release('docs', 'docs', ...settings)).toEqual(release('docs', 'docs', ...settings));
  });
});

describe('labels of the chart', () => {
  it('have on pods the value from podLabels if podLabels and commonLabels set the same label', () => {
    const manifests = templateWith('commonLabels.team=a', 'podLabels.team=b');
    const { metadata, spec } = only(manifests, 'Deployment');
    expect(metadata.labels.team).toBe('a');
    expect(spec.template.metadata.labels.team).toBe('b');
    expect(spec.selector.matchLabels).not.toHaveProperty('team');
  });
});

describe('staticExport.version of the chart', () => {
  it.each(['0', '007', '1e3', '2024.10', '0x10', '12345678901234'])('is pinned as text: %s', (version) => {
    expect(configOf(templateWith(`staticExport.version=${version}`)).staticExport.version).toBe(version);
  });
});
