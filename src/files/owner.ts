import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errnoOf } from '../domain/errors.ts';
import { membersOf } from '../domain/shape.ts';

export interface Owner {
  readonly host: string;
  readonly pid: number;
  /** Start time of the process in clock ticks since boot, to detect that another process reuses the pid. Null without /proc. */
  readonly startTicks: string | null;
  /** Namespace of the pid, because containers can share a host name. Null without /proc. */
  readonly pidNamespace: string | null;
}

export function thisProcess(): Owner {
  const { pid } = process;
  return { host: hostname(), pid, startTicks: startTicksOf(pid), pidNamespace: ownPidNamespace() };
}

export const isLocal = ({ host, pidNamespace }: Owner): boolean =>
  host === hostname() && (pidNamespace === null || pidNamespace === ownPidNamespace());

/**
 * True if a process runs. Null for a process of another host or pid namespace, which is not visible here; the caller then decides
 * by the age of a file.
 */
export const isAlive = (owner: Owner): boolean | null =>
  isLocal(owner) ? isRunning(owner.pid, owner.startTicks) : null;

function ownPidNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return null;
  }
}

/**
 * True if a process runs. False for a zombie, or if another process reuses the pid.
 * @param startTicks null matches any process with this pid
 */
export function isRunning(pid: number, startTicks: string | null): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Only ESRCH means that no such process exists. EPERM means that the process belongs to another user.
    if (errnoOf(error) === 'ESRCH') return false;
  }
  const found = statOf(pid);
  // Without /proc, or if /proc hides processes of other users (hidepid), rely on `kill(pid, 0)` alone.
  if (found === null) return true;
  return !found.isZombie && (startTicks === null || found.startTicks === startTicks);
}

export const startTicksOf = (pid: number): string | null => statOf(pid)?.startTicks ?? null;

/** Reads fields 3 (state) and 22 (start time) of /proc/PID/stat (proc(5)). */
function statOf(pid: number): { readonly startTicks: string; readonly isZombie: boolean } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field of /proc/PID/stat is the program's name in brackets, which may contain spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const startTicks = fields[19];
    return startTicks === undefined ? null : { startTicks, isZombie: fields[0] === 'Z' };
  } catch {
    return null;
  }
}

export function parseOwner(text: string): Owner | null {
  const { host, pid, startTicks = null, pidNamespace = null } = membersOf(text) as Partial<Owner>;
  return typeof host === 'string' && typeof pid === 'number' ? { host, pid, startTicks, pidNamespace } : null;
}
