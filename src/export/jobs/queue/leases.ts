import { readFileSync, readlinkSync } from 'node:fs';
import { isRunning, startTicksOf } from '../../../files/index.ts';

/** `heartbeat` changes with each renewal. */
export interface LifeSign {
  readonly jobId: string;
  readonly attempt: number;
  readonly heartbeat: number;
}

interface Sighting {
  readonly attempt: number;
  readonly heartbeat: number;
  readonly sinceMs: number;
}

/** By the watcher's monotonic clock: a lease expires when its sign of life has not changed for that long. */
export class LeaseWatch {
  #seen: ReadonlyMap<string, Sighting> = new Map();

  /** @param running all attempts that run now; others are forgotten */
  expired<Sign extends LifeSign>(running: readonly Sign[], leaseMs: number, nowMs: number): Sign[] {
    this.#seen = new Map(running.map((sign) => [sign.jobId, this.#sighting(sign, nowMs)]));
    return running.filter(({ jobId }) => nowMs - (this.#seen.get(jobId)?.sinceMs ?? nowMs) >= leaseMs);
  }

  #sighting({ jobId, attempt, heartbeat }: LifeSign, nowMs: number): Sighting {
    const seen = this.#seen.get(jobId);
    return seen?.attempt === attempt && seen.heartbeat === heartbeat ? seen : { attempt, heartbeat, sinceMs: nowMs };
  }
}

/** A claim's process: nobody waits for the lease of a dead one. Another host's or container's is left to the lease. */
export interface Holder {
  readonly bootId: string;
  readonly pidNamespace: string;
  readonly pid: number;
  readonly startTicks: string;
}

/** This process, or null where it cannot be named so (no Linux, no /proc). */
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

/** True for a holder that is certainly dead. @param here `thisHolder()` */
export function isGone(holder: Holder, here: Holder | null): boolean {
  if (holder.bootId !== here?.bootId || holder.pidNamespace !== here.pidNamespace) return false;
  return !isRunning(holder.pid, holder.startTicks);
}
