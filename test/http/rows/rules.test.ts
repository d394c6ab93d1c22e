import { beforeAll, describe, expect, it } from 'vitest';
import { requestRow, wordsOf } from './ask-row.ts';
import type { Words } from './row.ts';
import { openRowServer } from './row-server.ts';
import { RULE_ROWS, RULED_FILES } from './rule-rows.ts';

describe('site with its own redirect and header rules', () => {
  let port: number;
  let words: Words;
  beforeAll(async () => {
    ({ port } = await openRowServer(RULED_FILES));
    words = await wordsOf(port);
  });

  it.each(RULE_ROWS.map((row) => [row[0], row] as const))('responds as its rules require to %s', async (_name, row) => {
    expect(await requestRow(port, row, words)).toEqual([]);
    expect(await requestRow(port, row, words)).toEqual([]);
  });
});
