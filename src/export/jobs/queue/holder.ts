import { readFileSync, readlinkSync } from 'node:fs';
import { isRunning, startTicksOf } from '../../../files/index.ts';

/** The process that runs a job. If it is provably dead, its job need not wait for the lease. */
export interface Holder {
  readonly bootId: string;
  readonly pidNamespace: string;
  readonly pid: number;
  readonly startTicks: string;
}

/** This process. Null if the system cannot name it (no Linux, no /proc). */
export function thisHolder(): Holder | null {
  try {
    // /proc may be mounted for other processes.
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

/** True if the holder is certainly dead. A process of another host or container cannot be judged. @param here `thisHolder()` */
export function isGone(holder: Holder, here: Holder | null): boolean {
  if (holder.bootId !== here?.bootId || holder.pidNamespace !== here.pidNamespace) return false;
  return !isRunning(holder.pid, holder.startTicks);
}
