import { readFileSync, readlinkSync } from 'node:fs';
import { errnoOf } from '../../domain/errors.ts';

/**
 * Names the process that holds a claim, so that one that was killed and comes back need not wait for its own lease. It only
 * ever proves death: whoever cannot be judged from here (another host, another container, no /proc) is left to the lease.
 */
export interface Holder {
  /** Of the running kernel: a number of a process means nothing on another one. */
  readonly bootId: string;
  /** Containers on one kernel number their processes each for itself. */
  readonly pidNamespace: string;
  readonly pid: number;
  /** When the process began, in clock ticks since boot: tells a reused number apart. */
  readonly startTicks: string;
}

/** This process, or null where it cannot be named so (no Linux, no /proc). */
export function thisHolder(): Holder | null {
  try {
    // A /proc that was mounted for other processes would tell of those.
    if (readlinkSync('/proc/self') !== String(process.pid)) return null;
    const stat = statOf(process.pid);
    return (
      stat && {
        bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
        pidNamespace: readlinkSync('/proc/self/ns/pid'),
        pid: process.pid,
        startTicks: stat.startTicks,
      }
    );
  } catch {
    return null;
  }
}

/** Whether a holder is certainly dead, as seen from the process `here`. */
export function isGone(holder: Holder, here: Holder | null): boolean {
  if (holder.bootId !== here?.bootId || holder.pidNamespace !== here.pidNamespace) return false;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return errnoOf(error) === 'ESRCH';
  }
  const stat = statOf(holder.pid);
  // There, but not to be read (hidepid): it belongs to another user, and may be the holder.
  if (stat === null) return false;
  return stat.startTicks !== holder.startTicks || stat.isZombie;
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
