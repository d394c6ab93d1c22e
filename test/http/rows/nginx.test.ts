import { beforeAll, describe, expect, it } from 'vitest';
import { requestRow, wordsOf } from './ask-row.ts';
import { hasNginx, startNginx, whyNoNginx } from './nginx.ts';
import type { Words } from './row.ts';
import { SITE_FILES } from './row-site.ts';
import { TABLES } from './tables.ts';

/** Sends each row to nginx also. If nginx responds differently, the row states why docshelf does not do the same. */
describe.skipIf(!hasNginx)(
  `nginx responds as the test tables expect, unless a row states the reason for a difference${whyNoNginx}`,
  () => {
    let port: number;
    let words: Words;
    beforeAll(async () => {
      port = await startNginx(SITE_FILES);
      words = await wordsOf(port);
    });

    describe.each(TABLES)('nginx responses, HTTP rules for %s', (_, rows) => {
      it.each(rows.filter((row) => row[2] === undefined).map((row) => [row[0].slice(0, 200), row] as const))(
        'match the expected status and headers in the table for the request %s',
        async (_name, row) => {
          expect(await requestRow(port, row, words)).toEqual([]);
        },
      );
    });
  },
);
