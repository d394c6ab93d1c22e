import { readFileSync, readlinkSync } from 'node:fs';
import { isRunning, startTicksOf } from '../../files/index.ts';

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
    const startTicks = startTicksOf(process.pid);
    if (startTicks === null) return null;
    return {
      bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      pidNamespace: readlinkSync('/proc/self/ns/pid'),
      pid: process.pid,
      startTicks,
    };
  } catch {
    return null;
  }
}

/** True for a holder that is certainly dead, as seen from the process `here`. */
export function isGone(holder: Holder, here: Holder | null): boolean {
  if (holder.bootId !== here?.bootId || holder.pidNamespace !== here.pidNamespace) return false;
  return !isRunning(holder.pid, holder.startTicks);
}
