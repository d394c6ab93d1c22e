import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { newFolder } from '../helpers/new-folder.ts';
import { CHART, configOf, EVERYTHING, fetchHelm, type Manifest, only, siteOf, template } from './chart.ts';
import { manifestFaults } from './manifest-faults.ts';

type Values = { readonly [key: string]: unknown };

const file = join(newFolder(), 'values.yaml');
const DEFAULTS = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as Values;
const REMOVED = /^(resources|probes|podSecurityContext|securityContext|topologySpreadConstraints)$/;
const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);
const SECTIONS = Object.keys(DEFAULTS).filter((key) => isMap(DEFAULTS[key]) && Object.keys(DEFAULTS[key]).length > 0);

beforeAll(fetchHelm, 120_000);

/** Values with null for each value that is `depth` maps deep, except for the values that null removes. */
function nullsAt(depth: number, values: Values): Values {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([key, value]) => !REMOVED.test(key) && (depth === 0 || isMap(value)))
      .map(([key, value]) => [key, depth === 0 ? null : nullsAt(depth - 1, value as Values)]),
  );
}

function templateOf(values: Values, ...args: string[]): Manifest[] {
  writeFileSync(file, stringify(values));
  return template(...args, '--values', file);
}

describe('chart values that are null', () => {
  it.each([0, 1, 2, 3])('create the manifests of the defaults if all values at depth %i are null', (depth) => {
    expect(templateOf(nullsAt(depth, DEFAULTS))).toEqual(template());
  });

  it.each(SECTIONS)('create valid manifests, or one sentence as the error, if the section %s is null', async (key) => {
    try {
      const manifests = templateOf({ [key]: null }, '--values', EVERYTHING);
      expect((await Promise.all(manifests.map(manifestFaults))).flat()).toEqual([]);
    } catch (error) {
      const { stderr } = error as { stderr?: unknown };
      if (stderr === undefined) throw error;
      expect(stderr).toMatch(
        /^Error: execution error at \(docshelf\/templates\/configmap\.yaml:\d+:\d+\): [^\n]+: [^\n]+\n/,
      );
    }
  });

  it('remove resources, probes, security contexts and spread constraints', () => {
    const manifests = templateOf({
      resources: null,
      probes: null,
      podSecurityContext: null,
      securityContext: { capabilities: null },
      topologySpreadConstraints: null,
    });
    const pod = siteOf(manifests).spec.template.spec;
    expect(pod).not.toHaveProperty('topologySpreadConstraints');
    expect(pod.securityContext).toEqual({});
    expect(pod.containers[0].securityContext).not.toHaveProperty('capabilities');
    expect(pod.containers[0].resources).toEqual({});
    expect(Object.keys(pod.containers[0]).filter((key) => key.endsWith('Probe'))).toEqual([]);
  });

  it('keep the values of the same section that are set', () => {
    const manifests = templateOf({
      persistence: { size: null, enabled: true, keep: true },
      staticExport: { enabled: false, existingSecret: null },
    });
    expect(only(manifests, 'PersistentVolumeClaim').spec.resources.requests.storage).toBe('10Gi');
    expect(configOf(manifests).staticExport).toEqual({ enabled: false });
  });
});
