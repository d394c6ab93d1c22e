import { beforeAll, describe, expect, it } from 'vitest';
import { requestRow, wordsOf } from './ask-row.ts';
import type { Words } from './row.ts';
import { openRowServer } from './row-server.ts';
import { SITE_FILES } from './row-site.ts';
import { RULE_ROWS, RULED_FILES } from './rule-rows.ts';
import { TABLES } from './tables.ts';

describe.each([
  ...TABLES.map(([name, rows]) => [name, rows, SITE_FILES] as const),
  ['a site with its own redirect and header rules', RULE_ROWS, RULED_FILES] as const,
])('HTTP/1.1 responses of the site listener, rules for %s', (_, rows, files) => {
  let port: number;
  let words: Words;
  beforeAll(async () => {
    ({ port } = await openRowServer(files));
    words = await wordsOf(port);
  });

  it.each(rows.map((row) => [row[0].slice(0, 200), row] as const))(
    'match the expected status and headers in the table for the request %s',
    async (_name, row) => {
      expect(await requestRow(port, row, words)).toEqual([]);
      // Send the request again, because the second response comes from memory.
      expect(await requestRow(port, row, words)).toEqual([]);
    },
  );
});
