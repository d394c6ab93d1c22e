import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errnoOf } from '../domain/errors.ts';

/** The process behind a staging folder or a daemon's mark. */
export interface Owner {
  readonly host: string;
  readonly pid: number;
  /** The process's start in clock ticks since boot; null without /proc. Tells a reused pid apart. */
  readonly startTicks: string | null;
  /** The numbering of processes that the pid belongs to; null without /proc. Containers can share a host name. */
  readonly pidNamespace: string | null;
}

export function thisProcess(): Owner {
  const { pid } = process;
  return { host: hostname(), pid, startTicks: startTicksOf(pid), pidNamespace: ownPidNamespace() };
}

/** Whether this process can see that one by its pid. */
export function isLocal({ host, pidNamespace }: Owner): boolean {
  return host === hostname() && (pidNamespace === null || pidNamespace === ownPidNamespace());
}

/** Null for a process that cannot be seen from here: the caller decides by age. */
export function isAlive(owner: Owner): boolean | null {
  return isLocal(owner) ? isRunning(owner.pid, owner.startTicks) : null;
}

function ownPidNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return null;
  }
}

/** False for a zombie, and for a later process with the same pid. `startTicks` null: any process with that pid. */
export function isRunning(pid: number, startTicks: string | null): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is there and belongs to another user.
    if (errnoOf(error) === 'ESRCH') return false;
  }
  const found = statOf(pid);
  // Without /proc, and where it hides other users' processes (hidepid), the signal alone tells.
  if (found === null) return true;
  return !found.isZombie && (startTicks === null || found.startTicks === startTicks);
}

export function startTicksOf(pid: number): string | null {
  return statOf(pid)?.startTicks ?? null;
}

/** From proc(5): state is field 3, the start time field 22. */
function statOf(pid: number): { readonly startTicks: string; readonly isZombie: boolean } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets and may hold spaces and brackets itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const startTicks = fields[19];
    return startTicks === undefined ? null : { startTicks, isZombie: fields[0] === 'Z' };
  } catch {
    return null;
  }
}

export function parseOwner(text: string): Owner | null {
  try {
    const value = JSON.parse(text) as Partial<Owner>;
    if (typeof value.host !== 'string' || typeof value.pid !== 'number') return null;
    const { host, pid, startTicks = null, pidNamespace = null } = value;
    return { host, pid, startTicks, pidNamespace };
  } catch {
    return null;
  }
}
