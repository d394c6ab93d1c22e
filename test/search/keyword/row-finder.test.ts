import { describe, expect, it } from 'vitest';
import { rowFinder } from '../../../src/search/keyword/query.ts';

const CODES =
  'Error Code · Condition Name\n42704 · undefined_object\n42P01 · undefined_table\n42P02 · undefined_parameter';
const FUNCTIONS = 'nextval\n---\nSELECT nextval(1);\nFunction Description\nnextval ( regclass ) → bigint Advances it.';
const OPTIONS =
  'Options\n-H\n--html\nHTML output.\n-h hostname\n--host=hostname\nThe host.\n-i, --input FILE\nThe file, like -h x.';

describe('rowFinder(), finding the line that defines a name of the query', () => {
  it.each([
    ['42P01', CODES, '42P01 · '],
    ['42p01', CODES, '42P01 · '],
    ['undefined_table', CODES, '42P01 · '],
    ['SQLSTATE 42P02', CODES, '42P02 · '],
    ['error 42704', CODES, '42704 · '],
    ['nextval', FUNCTIONS, 'nextval ( '],
    ['nextval()', FUNCTIONS, 'nextval ( '],
    ['DataFileRead', 'IO · Description\nDataFileRead · Waiting for a read.', 'DataFileRead · '],
    ['psql -h', OPTIONS, '-h hostname'],
    ['psql -H', OPTIONS, '-H\n'],
    ['psql --host', OPTIONS, '--host='],
    ['tool --input', OPTIONS, '-i, --input'],
  ])('finds the line for the query "%s"', (query, text, start) => {
    const row = rowFinder(query)?.(text) ?? null;
    expect(row).not.toBeNull();
    expect(text.slice(row ?? 0).startsWith(start)).toBe(true);
  });

  it.each([
    ['an ordinary word in a cell', 'table', 'table · text'],
    ['a call in code', 'nextval', 'nextval(1);'],
    ['a part of a name', '42P0', CODES],
    ['a name that is no cell', '42P01', 'The code 42P01 · is here'],
    ['a question', 'what is a table', 'table ( x )'],
    ['no query', ' ', CODES],
    ['an option in another case', 'psql -I', OPTIONS],
    ['a beginning of an option', 'psql --ho', OPTIONS],
  ])('finds no line for %s', (_, query, text) => {
    expect(rowFinder(query)?.(text) ?? null).toBeNull();
  });

  it('returns the first line or no line for queries of punctuation, and does not throw', () => {
    for (const sign of '\\^$.*+?()[]{}|/-&~#\'"<>=!@%,;:`')
      for (const query of [sign, `a${sign}1`, `${sign}${sign}`, `1${sign}a b`])
        expect(rowFinder(query)?.(`${query} · a`) ?? 0).toBe(0);
  });
});
