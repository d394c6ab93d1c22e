import { readFileSync, readlinkSync } from 'node:fs';
import { isRunning, startTicksOf } from '../../../files/index.ts';

/** An attempt's sign of life: its holder changes `heartbeat` with each renewal. */
export interface LifeSign {
  readonly jobId: string;
  readonly attempt: number;
  readonly heartbeat: number;
}

interface Sighting {
  readonly attempt: number;
  readonly heartbeat: number;
  /** First sight of this sign, on the watcher's monotonic clock. */
  readonly sinceMs: number;
}

/**
 * Measures leases by what one watcher sees: a lease has expired when the attempt's sign of life has not changed for that
 * long on the watcher's own monotonic clock. Clocks of other hosts and times of day play no part. A watcher that has just
 * begun knows nothing and waits a whole lease.
 */
export class LeaseWatch {
  #seen: ReadonlyMap<string, Sighting> = new Map();

  /** Of all attempts that run now, those whose lease has expired. Others are forgotten. */
  expired<Sign extends LifeSign>(running: readonly Sign[], leaseMs: number, nowMs: number): Sign[] {
    this.#seen = new Map(running.map((sign) => [sign.jobId, this.#sighting(sign, nowMs)]));
    return running.filter(({ jobId }) => nowMs - (this.#seen.get(jobId)?.sinceMs ?? nowMs) >= leaseMs);
  }

  #sighting({ jobId, attempt, heartbeat }: LifeSign, nowMs: number): Sighting {
    const seen = this.#seen.get(jobId);
    return seen?.attempt === attempt && seen.heartbeat === heartbeat ? seen : { attempt, heartbeat, sinceMs: nowMs };
  }
}

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
  /** The process's start in clock ticks since boot: tells a reused pid apart. */
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
