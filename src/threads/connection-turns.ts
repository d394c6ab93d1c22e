import type { ChildProcess } from 'node:child_process';
import type { EventEmitter } from 'node:events';

/** A connection, as node:cluster has it. */
interface Dealt {
  close(): void;
}

type Send = (message: unknown, ...rest: unknown[]) => boolean;

interface Member {
  /** Since all were free. */
  dealt: number;
  /** One at most: node:cluster waits for its answer. */
  untaken: Dealt | null;
  sentMs: number;
}

/** Connections that a process may take more than another of those that come at once: to wait for each costs time. */
const AHEAD_MAX = 4;
/** For a process that is busy. One that hangs is not waited for again. */
const PATIENCE_MS = 20;

/**
 * Evens out what node:cluster deals. That gives a process the next connection when it has taken the last: of 32 that come at once,
 * one of two processes had 4 to 29 (measured); and what one that dies had not taken would stay open for ever.
 */
export class ConnectionTurns {
  readonly #members = new Set<Member>();
  readonly #held = new Set<() => void>();

  join(child: ChildProcess): void {
    const member: Member = { dealt: 0, untaken: null, sentMs: 0 };
    this.#members.add(member);
    const send = child.send.bind(child) as Send;
    child.send = ((message: unknown, handle: unknown, ...rest: unknown[]) => {
      if (!isDealt(handle)) return send(message, handle, ...rest);
      member.untaken = handle;
      this.#whenDue(member, () => send(message, handle, ...rest));
      return true;
    }) as typeof child.send;
    // Before node:cluster deals the next.
    (child as EventEmitter).prependListener('internalMessage', (message: object) => {
      if (!('accepted' in message)) return;
      member.untaken = null;
      const members = [...this.#members];
      if (members.every(({ untaken }) => untaken === null)) for (const each of members) each.dealt = 0;
      this.#release();
    });
    // Of one that dies with a connection there is no `disconnect`.
    child.once('exit', () => {
      this.#members.delete(member);
      member.untaken?.close();
      member.untaken = null;
      this.#release();
    });
  }

  /** At once, or when those that are behind have taken theirs. */
  #whenDue(member: Member, send: () => void): void {
    const act = (isLate = false): void => {
      if (!this.#held.has(act) || (!isLate && this.#isAhead(member))) return;
      this.#held.delete(act);
      // It has died.
      if (member.untaken === null) return;
      member.dealt += 1;
      member.sentMs = performance.now();
      send();
    };
    this.#held.add(act);
    act();
    if (this.#held.has(act)) setTimeout(act, PATIENCE_MS, true);
  }

  #isAhead({ dealt }: Member): boolean {
    const sinceMs = performance.now() - PATIENCE_MS;
    return [...this.#members].some(
      (each) => each.dealt + AHEAD_MAX <= dealt && each.untaken !== null && each.sentMs > sinceMs,
    );
  }

  #release(): void {
    for (const act of [...this.#held]) act();
  }
}

function isDealt(handle: unknown): handle is Dealt {
  return typeof handle === 'object' && handle !== null && 'close' in handle;
}
