import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { manualPage } from '../../scripts/manual-page.ts';
import { ERROR_CODES, type ErrorCode, exitCodeOf, statusOf } from '../../src/domain/errors.ts';

/** A row of the runbook: its code, and the exit code in its row or section. */
interface Entry {
  readonly code: string;
  readonly exitCode: number;
  readonly cells: readonly string[];
}

const readPage = () => readFileSync(join(import.meta.dirname, '../../docs/errors.md'), 'utf8');

function readEntries(): Entry[] {
  return readPage()
    .split(/^## /m)
    .flatMap((section) => {
      const sectionExit = /^Exit code (\d+)\./m.exec(section)?.[1];
      return [...section.matchAll(/^\| `([a-z0-9_]+)` \| (.*) \|$/gm)].map(([, code = '', rest = '']) => {
        const cells = rest.split(' | ');
        return { code, exitCode: Number(sectionExit ?? cells.shift()), cells };
      });
    });
}

const codes = ERROR_CODES;

describe('the errors page', () => {
  const entries = readEntries();

  it('has one entry for every error code, and no other entry', () => {
    expect(entries.map(({ code }) => code).sort()).toEqual([...codes].sort());
  });

  it('states the meaning and the next step in every entry', () => {
    expect(entries.filter(({ cells }) => cells.length !== 2 || cells.some((cell) => cell.trim() === ''))).toEqual([]);
  });

  it('is the source of the manual page that the console serves', () => {
    const built = readFileSync(join(import.meta.dirname, '../../src/http/console/assets/errors.html'), 'utf8');
    expect(built, 'run "sh scripts/run.sh node scripts/generate.ts"').toBe(manualPage('docs/errors.md', readPage()));
  });

  it.each(readEntries())('names the exit code of $code', ({ code, exitCode }) => {
    expect(exitCode).toBe(exitCodeOf(code as ErrorCode));
  });

  it('lists the HTTP status of every code', () => {
    const rows = [...readPage().matchAll(/^\| (\d{3}) \| (.*) \|$/gm)];
    const listed = new Map(
      rows.flatMap(([, status, cell = '']) =>
        [...cell.matchAll(/`(\w+)`/g)].map(([, code = '']) => [code, Number(status)]),
      ),
    );
    for (const code of codes) expect(listed.get(code) ?? 422, code).toBe(statusOf(code));
  });
});
