import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mediaTypeOf } from '../../src/web/media-type.ts';
import { newHome } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { packTarGz } from '../helpers/pack-tar-gz.ts';
import { requestRow, wordsOf } from '../http/rows/ask-row.ts';
import type { Row, Words } from '../http/rows/row.ts';
import { CREATED_AT, SITE_FILES } from '../http/rows/row-site.ts';
import { TABLES } from '../http/rows/tables.ts';
import { folderOf } from './bundles.ts';

/** Excludes files whose compressed form is cached only after the first response, which changes their length. */
const isSettled = ([requested]: Row): boolean => !/large\.txt.*gzip/.test(requested);

/** Sends the rows of `test/http/rows` through the whole program instead of only the listener. */
describe('the built daemon', () => {
  const bench = openBench(afterAll);
  let port: number;
  let words: Words;

  beforeAll(async () => {
    const folder = await newHome(bench, { search: { enabled: false }, server: { trailingSlash: 'always' } });
    const files = Object.entries(SITE_FILES).map(([path, content]) => ({ path, bytes: Buffer.from(content) }));
    await folderOf(join(folder, 'bundles'), {});
    const manifest = {
      domain: 'docs',
      version: 'v1',
      createdAt: CREATED_AT,
      generator: 'docshelf test',
      pageCount: 1,
      typeOf: mediaTypeOf,
    };
    await packTarGz({ files, to: join(folder, 'bundles', 'docs-v1.tar.gz'), manifest });
    const daemon = await bench.start(null, { folder });
    await daemon.untilServing('v1');
    port = Number(new URL(daemon.site).port);
    words = await wordsOf(port);
  });

  it.each(TABLES)('returns the expected response to each request of a test table: %s', async (_, rows) => {
    const faults: string[] = [];
    for (const row of rows.filter(isSettled)) {
      // The second response comes from memory.
      for (const time of ['first', 'second']) {
        const found = await requestRow(port, row, words);
        faults.push(...found.map((fault) => `${row[0].slice(0, 200)}, the ${time} time: ${fault}`));
      }
    }
    expect(faults).toEqual([]);
  });
});
