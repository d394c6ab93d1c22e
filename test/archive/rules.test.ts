import { afterAll, describe, expect, it } from 'vitest';
import { ARCHIVE_CODES } from '../../src/domain/errors.ts';
import { ARCHIVE_FORMATS, siteArchive } from '../helpers/archives.ts';
import { type Cell, RULES_TABLE } from './rules-table.ts';
import { Workbench } from './workbench.ts';

const bench = new Workbench();

const printed = new Map<string, string[]>();

describe('the rules of unpacking', () => {
  it('have a test case for each rule and format', () => {
    expect(Object.keys(RULES_TABLE).sort()).toEqual([...ARCHIVE_CODES].sort());
    for (const row of Object.values(RULES_TABLE)) {
      expect(Object.keys(row).sort()).toEqual([...ARCHIVE_FORMATS].sort());
      for (const cell of Object.values(row))
        expect('impossible' in cell ? cell.impossible : cell.bytes).not.toHaveLength(0);
    }
  });

  it.each(ARCHIVE_FORMATS)('accept a valid archive of the format %s', async (format) => {
    expect((await bench.attempt(siteArchive(format))).stage).toBe('passed');
  });

  for (const rule of ARCHIVE_CODES) {
    for (const format of ARCHIVE_FORMATS) {
      const cell: Cell | undefined = RULES_TABLE[rule][format];
      if (cell === undefined || 'impossible' in cell) {
        print(rule, cell === undefined ? 'EMPTY' : '-');
        continue;
      }
      it(`reject a ${format} that breaks ${rule}, with the code ${cell.code}`, async () => {
        const attempt = await bench.attempt(cell.bytes, cell.limits, cell.foldsCase);
        expect(attempt.error?.code).toBe(cell.code);
        expect(attempt.stage).toBe(cell.whileExtracting ? 'extracted' : 'inspected');
        expect(await bench.written()).toEqual(cell.whileExtracting ? ['staging'] : []);
      });
      print(rule, cell.code);
    }
  }
});

function print(rule: string, cell: string): void {
  printed.set(rule, [...(printed.get(rule) ?? []), cell]);
}

/** Prints the table for CI: one line per rule, with `-` and the reason if the format cannot break it. */
afterAll(() => {
  if (process.env.DOCSHELF_PRINT_RULES !== '1') return;
  const line = (cells: readonly string[]) =>
    cells
      .map((cell) => cell.padEnd(22))
      .join(' ')
      .trimEnd();
  const lines = [line(['rule', ...ARCHIVE_FORMATS]), ...[...printed].map(([rule, cells]) => line([rule, ...cells]))];
  for (const [rule, row] of Object.entries(RULES_TABLE)) {
    const reasons = new Map<string, string[]>();
    for (const [format, cell] of Object.entries(row)) {
      if ('impossible' in cell) reasons.set(cell.impossible, [...(reasons.get(cell.impossible) ?? []), format]);
    }
    for (const [reason, formats] of reasons) lines.push(`- ${rule} in ${formats.join(', ')}: ${reason}`);
  }
  process.stdout.write(`${lines.join('\n')}\n`);
});
