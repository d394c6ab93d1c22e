import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { errnoOf } from '../domain/errors.ts';

/**
 * Names the process that something in the data folder belongs to (a staging folder, a running daemon), so that what a
 * killed process left can be told from what a living one is working on. Several daemons may share a folder.
 */
export interface Owner {
  readonly host: string;
  readonly pid: number;
  /** When the process began, in clock ticks since boot (proc(5), stat field 22); null where there is no /proc. Tells a reused pid apart. */
  readonly startTicks: string | null;
}

export async function thisProcess(): Promise<Owner> {
  return { host: hostname(), pid: process.pid, startTicks: await startTicksOf(process.pid) };
}

/**
 * Whether that process runs. On another host nobody can say from here: null, and the caller decides by age.
 */
export async function isAlive(owner: Owner): Promise<boolean | null> {
  if (owner.host !== hostname()) return null;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: it is there and belongs to another user.
    if (errnoOf(error) !== 'EPERM') return false;
  }
  return owner.startTicks === null || owner.startTicks === (await startTicksOf(owner.pid));
}

async function startTicksOf(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets and may hold spaces and brackets itself.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

export function parseOwner(text: string): Owner | null {
  try {
    const value = JSON.parse(text) as Partial<Owner>;
    if (typeof value.host !== 'string' || typeof value.pid !== 'number') return null;
    return { host: value.host, pid: value.pid, startTicks: value.startTicks ?? null };
  } catch {
    return null;
  }
}
