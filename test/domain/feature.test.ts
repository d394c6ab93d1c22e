import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FEATURES, joinFeatures, reportFeatures } from '../../src/domain/feature.ts';
import { wishesOf } from '../helpers/features.ts';

const TABLE = '../../src/domain/feature.ts';
const SCHEMA = '../../src/config/config.schema.json';

describe('the feature table', () => {
  it('has the five published rows first, as the contract prints them', () => {
    const rows = FEATURES.slice(0, 5).map((row) => [row.id, row.cloud, row['client-hosted'], row['air-gapped']]);
    expect(rows).toEqual([
      ['search', 'available', 'configurable', 'unavailable'],
      ['assistant', 'available', 'configurable', 'unavailable'],
      ['analytics', 'available', 'configurable', 'unavailable'],
      ['apiPlayground', 'available', 'available', 'configurable'],
      ['staticExport', 'available', 'available', 'available'],
    ]);
  });

  it('overrules a wish that the type of deployment cannot grant, and says so', () => {
    const [search] = reportFeatures('air-gapped', 'acme', wishesOf({ search: true })).features;
    expect(search).toMatchObject({
      enabled: false,
      reason: expect.stringMatching(/^Overruled: features\.search asks/),
    });
  });

  it('is told of each site of a list, and beside it of the only one', () => {
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

  it('stands in the manual as it is', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/features.md'), 'utf8');
    // Rows that the published contract does not have are told of in the text.
    for (const row of FEATURES.slice(0, 5)) {
      expect(text).toContain(
        `| ${row.name} | \`${row.id}\` | ${row.cloud} | ${row['client-hosted']} | ${row['air-gapped']} |\n`,
      );
    }
  });

  it('makes a key and its schema out of one row more', async () => {
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
