import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FEATURES, joinFeatures, reportFeatures } from '../../src/domain/feature.ts';
import { wishesOf } from '../helpers/features.ts';

const TABLE = '../../src/domain/feature.ts';
const SCHEMA = '../../src/config/config.schema.json';

describe('the feature table', () => {
  it('starts with the five published rows, which clients rely on', () => {
    const rows = FEATURES.slice(0, 5).map((row) => [row.id, row.cloud, row['client-hosted'], row['air-gapped']]);
    expect(rows).toEqual([
      ['search', 'available', 'configurable', 'unavailable'],
      ['assistant', 'available', 'configurable', 'unavailable'],
      ['analytics', 'available', 'configurable', 'unavailable'],
      ['apiPlayground', 'available', 'available', 'configurable'],
      ['staticExport', 'available', 'available', 'available'],
    ]);
  });

  it('overrules a setting that the type of deployment does not allow, and reports the overruled setting', () => {
    const [search] = reportFeatures('air-gapped', 'acme', wishesOf({ search: true })).features;
    expect(search).toMatchObject({
      enabled: false,
      reason: expect.stringMatching(/^Overruled: features\.search turns/),
    });
  });

  it('reports status per site, and at the top level if there is one site', () => {
    const [acme, globex] = ['acme', 'globex'].map((domain) => reportFeatures('cloud', domain, wishesOf())) as [
      ReturnType<typeof reportFeatures>,
      ReturnType<typeof reportFeatures>,
    ];
    expect(joinFeatures('cloud', [acme, globex])).toEqual({
      deploymentType: 'cloud',
      domain: null,
      features: [],
      sites: [
        { domain: 'acme', features: acme.features },
        { domain: 'globex', features: globex.features },
      ],
    });
    expect(joinFeatures('cloud', [acme])).toEqual({ ...acme, sites: [{ domain: 'acme', features: acme.features }] });
  });

  it('matches the tables in the manual', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/features.md'), 'utf8');
    const rows = [...text.matchAll(/^\| ([^|]+) \| `(\w+)` \| (\w+) \| ([\w-]+) \| ([\w-]+) \|$/gm)];
    expect(rows.map(([, ...cells]) => cells)).toEqual(
      FEATURES.map((row) => [row.name, row.id, row.cloud, row['client-hosted'], row['air-gapped']]),
    );
  });

  it('creates a config key and its schema for each added row', async () => {
    onTestFinished(() => {
      vi.doUnmock(TABLE);
      vi.doUnmock(SCHEMA);
      vi.resetModules();
    });
    vi.resetModules();
    const row = { ...FEATURES[1], id: 'quiz', name: 'Quiz', key: 'features.quiz' };
    vi.doMock(TABLE, async (importOriginal) => ({ ...(await importOriginal<object>()), FEATURES: [...FEATURES, row] }));
    vi.doMock(SCHEMA, async () => {
      const { schemaSource } = await import('../../src/config/schema/index.ts');
      return { default: JSON.parse(JSON.stringify(schemaSource)) };
    });
    const { loadConfig } = await import('../../src/config/index.ts');
    const env = { DOCSHELF__FEATURES__QUIZ: 'true' };
    const { config } = await loadConfig({ file: null, env, cwd: import.meta.dirname });
    expect(config.features).toMatchObject({ quiz: { enabled: true, origins: [] } });
  });
});
