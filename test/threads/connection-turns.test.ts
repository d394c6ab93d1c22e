import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { afterEach, expect, it, vi } from 'vitest';
import { ConnectionTurns } from '../../src/threads/connection-turns.ts';

afterEach(() => void vi.useRealTimers());

interface Connection {
  readonly close: () => void;
}

/** A process as node:cluster has it: it gets a connection, and answers that it has taken it. */
class Process extends EventEmitter {
  readonly got: unknown[] = [];

  send(_: unknown, connection?: unknown): boolean {
    this.got.push(connection);
    return true;
  }

  take(accepted = true): void {
    this.emit('internalMessage', { accepted });
  }
}

function open(count: number) {
  vi.useFakeTimers();
  const turns = new ConnectionTurns();
  const processes = Array.from({ length: count }, () => new Process());
  for (const each of processes) turns.join(each as unknown as ChildProcess);
  const deal = (to: Process | undefined): Connection => {
    const connection = { close: vi.fn() };
    to?.send({}, connection);
    return connection;
  };
  return { processes, deal, counts: () => processes.map(({ got }) => got.length) };
}

it('a process that takes its connections sooner waits for the others', () => {
  const { processes, deal, counts } = open(3);
  const [fast, second, third] = processes;
  for (const each of processes) deal(each);
  const next = (of: Process | undefined): void => {
    of?.take();
    deal(of);
  };
  next(fast);
  expect(counts()).toEqual([2, 1, 1]);
  next(fast);
  next(second);
  expect(counts()).toEqual([2, 2, 1]);
  third?.take();
  expect(counts()).toEqual([3, 2, 1]);
});

it('one that is slow is waited for once, and no longer than a moment', () => {
  const { processes, deal, counts } = open(2);
  const [fast, slow] = processes;
  deal(fast);
  deal(slow);
  for (let at = 0; at < 2; at++) {
    fast?.take();
    deal(fast);
  }
  expect(counts()).toEqual([2, 1]);
  vi.advanceTimersByTime(1_000);
  expect(counts()).toEqual([3, 1]);
  for (let at = 0; at < 10; at++) {
    fast?.take();
    deal(fast);
  }
  expect(counts()).toEqual([13, 1]);
});

it('what a process that dies had not taken is closed, sent or held back', () => {
  const { processes, deal, counts } = open(2);
  const [first, second] = processes;
  deal(first);
  const sent = deal(second);
  first?.take();
  deal(first);
  first?.take();
  const held = deal(first);
  first?.emit('exit');
  second?.emit('exit');
  vi.advanceTimersByTime(1_000);
  expect(counts()).toEqual([2, 1]);
  for (const { close } of [sent, held]) expect(close).toHaveBeenCalledOnce();
});

it('what a process that ends gives back is another’s', () => {
  const { processes, deal } = open(2);
  const [ending, other] = processes;
  const connection = deal(ending);
  ending?.take(false);
  other?.send({}, connection);
  ending?.emit('exit');
  expect(connection.close).not.toHaveBeenCalled();
  expect(other?.got).toEqual([connection]);
});
