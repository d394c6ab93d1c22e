import { appendFile, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { AuditFile, type AuditLine } from '../../../src/http/audit/audit.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { auditLine } from './memory-audit.ts';

const lineAt = (at: string, target = at): AuditLine => auditLine({ at, target });
const timeOf = (at: number): string => new Date(Date.UTC(2026, 10, 23) + at).toISOString();

describe('AuditFile', () => {
  let dir: string;
  const faults: unknown[] = [];
  const openFile = () => new AuditFile({ dir, onFault: (error) => faults.push(error) });
  const targets = async (file: AuditFile, limit: number, before: string | null = null) =>
    (await file.read(limit, before)).lines.map(({ target }) => target);

  beforeEach(() => {
    dir = newFolder();
    faults.length = 0;
  });

  it('stores the lines of several daemons in order of time, in a file that only its owner can read', async () => {
    const [one, two] = [openFile(), openFile()];
    expect(await one.read(10, null)).toEqual({ lines: [], before: null });
    await Promise.all([one.append(lineAt(timeOf(1))), two.append(lineAt(timeOf(2))), one.append(lineAt(timeOf(3)))]);
    expect((await openFile().read(10, null)).lines).toEqual([3, 2, 1].map((at) => lineAt(timeOf(at))));
    expect((await stat(join(dir, 'audit.jsonl'))).mode & 0o777).toBe(0o600);
  });

  it('does not write through a symbolic link', async () => {
    const target = join(dir, 'other');
    await writeFile(target, 'theirs');
    await symlink(target, join(dir, 'audit.jsonl'));
    await openFile().append(lineAt(timeOf(1)));
    expect(await readFile(target, 'utf8')).toBe('theirs');
    expect(faults).toMatchObject([{ code: 'cannot_write', message: expect.stringContaining('it is a symbolic link') }]);
    await rm(join(dir, 'audit.jsonl'));
    await symlink(join(dir, 'missing'), join(dir, 'audit.jsonl'));
    await openFile().append(lineAt(timeOf(1)));
    expect((await readdir(dir)).sort()).toEqual(['audit.jsonl', 'other']);
  });

  it('returns lines page by page, and keeps lines of the same time on one page', async () => {
    const file = openFile();
    for (const [at, target] of [
      [1, 'a'],
      [2, 'b'],
      [2, 'c'],
      [2, 'd'],
      [3, 'e'],
    ] as const)
      await file.append(lineAt(timeOf(at), target));
    const first = await file.read(2, null);
    expect(first.lines.map(({ target }) => target)).toEqual(['e', 'b', 'c', 'd']);
    expect(first.before).toBe(timeOf(2));
    expect(await file.read(2, first.before)).toMatchObject({ lines: [{ target: 'a' }], before: null });
  });

  it('ignores an incomplete line that a crash left, and keeps the lines after it', async () => {
    const file = openFile();
    await file.append(lineAt(timeOf(1)));
    await appendFile(join(dir, 'audit.jsonl'), '{"at":"2026-11-23T00:00:00.002Z","act');
    await file.append(lineAt(timeOf(3)));
    expect(await targets(file, 10)).toEqual([timeOf(3), timeOf(1)]);
  });

  it('rotates a full file, reads across rotated files, and keeps at most seven rotated files', async () => {
    const [one, two] = [openFile(), openFile()];
    for (let at = 0; at < 120; at += 2) {
      // Fill the current file almost to its maximum of 4 MiB, so that each few lines need a new file.
      if (at % 10 === 0) await appendFile(join(dir, 'audit.jsonl'), `${'x'.repeat(4 * 1024 ** 2 - 2_000)}\n`);
      await Promise.all([one.append(lineAt(timeOf(at))), two.append(lineAt(timeOf(at + 1)))]);
    }
    const names = (await readdir(dir)).filter((name) => name.endsWith('.jsonl'));
    expect(names.length).toBeLessThanOrEqual(8);
    const kept = await targets(one, 1000);
    expect(kept.length).toBeGreaterThan(30);
    expect(kept).toEqual(Array.from(kept, (_, at) => timeOf(119 - at)));
    expect(faults).toEqual([]);
  });

  it('passes a failed write to the error callback, and writes again after the folder is usable again', async () => {
    const file = openFile();
    await rm(dir, { recursive: true });
    await writeFile(dir, '');
    await file.append(lineAt(timeOf(1)));
    expect(faults).toHaveLength(1);
    await rm(dir);
    dir = newFolder();
    await openFile().append(lineAt(timeOf(2)));
    expect(await readFile(join(dir, 'audit.jsonl'), 'utf8')).toContain(timeOf(2));
  });
});
