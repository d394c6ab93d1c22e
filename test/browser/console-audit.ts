import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { AuditLine } from '../../src/http/audit/audit.ts';
import { type DaemonProcess, waitFor } from '../helpers/daemon.ts';

/** Newest audit line, which must be equal in the API, the file and the log. */
export async function newestChange(daemon: DaemonProcess, token: string): Promise<AuditLine> {
  const headers = { Authorization: `Bearer ${token}` };
  const answer = await fetch(`${daemon.admin}/v1/audit?limit=1`, { headers });
  const { lines } = (await answer.json()) as { readonly lines: readonly AuditLine[] };
  const [line] = lines;
  if (line === undefined) throw new Error('nothing has been changed yet');
  const file = (await readFile(join(daemon.dataDir, 'audit.jsonl'), 'utf8')).trimEnd().split('\n');
  expect(JSON.parse(file.at(-1) ?? '')).toEqual(line);
  const { at: _, ...facts } = line;
  await waitFor(
    () => (daemon.lines().some((logged) => isLogOf(logged, facts)) ? true : null),
    () => `the log has no line of ${JSON.stringify(line)}: ${daemon.log()}`,
  );
  return line;
}

function isLogOf(logged: Readonly<Record<string, unknown>>, facts: Omit<AuditLine, 'at'>): boolean {
  return logged.event === 'audit' && Object.entries(facts).every(([name, value]) => logged[name] === value);
}
