import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { pagesOf } from '../../bench/search/http-engine.ts';
import { meanOf, measure } from '../../bench/search/measures.ts';
import { readTestSets } from '../../bench/search/test-set.ts';
import type { SearchResult } from '../../src/search/index.ts';
import { sha256Of } from '../acceptance/bundles.ts';
import { corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { freePort } from '../helpers/free-ports.ts';
import { packTarGz } from '../helpers/pack-tar-gz.ts';

/**
 * nDCG@10 of keyword search through the endpoint, 0.005 below its value when these were set. Search by meaning takes minutes of
 * a processor per set: `npm run bench:search`.
 */
const FLOORS = [
  ['anthropic-docs', 0.803],
  ['codebase', 0.732],
  ['cacm', 0.528],
] as const;
const KEY = 'svc_dsc_relevance';

describe.skipIf(corpus === undefined)(`search relevance on the question sets for development${whyNoCorpus}`, () => {
  const bench = openBench(afterEach);

  it.each(FLOORS)('reaches the minimum nDCG@10 score on the set %s: %d', async (name, floor) => {
    const set = readTestSets().find((each) => each.name === name);
    if (set === undefined) throw new Error(`no set ${name}`);
    const folder = await bench.folder();
    const port = await freePort();
    await packTarGz({ files: pagesOf(set.documents), to: join(folder, 'set-export-2026-01-01.tar.gz') });
    const search = { model: 'off', keys: [{ id: 'test', sha256: sha256Of(KEY) }] };
    const config = {
      deployment: { domain: 'set' },
      staticExport: { enabled: true, preload: '.' },
      api: { port },
      search,
    };
    const daemon = await bench.start({ ...config, log: { access: false } }, { folder });
    await daemon.until((status) => status.search.keyword === 'ready');
    const ids = async (query: string, pageSize: number): Promise<string[]> => {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/search/set`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: query.slice(0, 1000), pageSize }),
      });
      expect(answer.status).toBe(200);
      const found = (await answer.json()) as SearchResult[];
      return found.map(({ path }) => set.documents[Number(/\d+/.exec(path)?.[0])]?.id ?? path);
    };
    const reached = meanOf(await measure({ search: ids, close: () => undefined }, set.queries), 'ndcg10');
    console.log(`figure: nDCG@10 ${name} ${reached.toFixed(3)}`);
    expect(reached).toBeGreaterThanOrEqual(floor);
  });
});
