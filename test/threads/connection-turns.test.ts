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

/** As often as it has taken one. */
function takeAndDeal(
  times: number,
  of: Process | undefined,
  deal: (to: Process | undefined) => Connection,
): Connection[] {
  return Array.from({ length: times }, () => {
    of?.take();
    return deal(of);
  });
}

it('a process that takes its connections sooner gets no more than four ahead of the others', () => {
  const { processes, deal, counts } = open(3);
  const [fast, second, third] = processes;
  for (const each of processes) deal(each);
  takeAndDeal(4, fast, deal);
  expect(counts()).toEqual([5, 1, 1]);
  takeAndDeal(1, fast, deal);
  takeAndDeal(1, second, deal);
  expect(counts()).toEqual([5, 2, 1]);
  takeAndDeal(1, third, deal);
  expect(counts()).toEqual([6, 2, 2]);
});

it('what is behind is forgotten once all are free', () => {
  const { processes, deal, counts } = open(2);
  const [fast, slow] = processes;
  for (const each of processes) deal(each);
  takeAndDeal(4, fast, deal);
  for (const each of processes) each.take();
  for (const each of [slow, fast]) deal(each);
  takeAndDeal(4, fast, deal);
  expect(counts()).toEqual([10, 2]);
});

it('one that is slow is waited for once, and no longer than a moment', () => {
  const { processes, deal, counts } = open(2);
  for (const each of processes) deal(each);
  const [fast] = processes;
  takeAndDeal(5, fast, deal);
  expect(counts()).toEqual([5, 1]);
  vi.advanceTimersByTime(1_000);
  expect(counts()).toEqual([6, 1]);
  takeAndDeal(10, fast, deal);
  expect(counts()).toEqual([16, 1]);
});

it('what a process that dies had not taken is closed, sent or held back', () => {
  const { processes, deal, counts } = open(2);
  const [first, second] = processes;
  deal(first);
  const sent = deal(second);
  const held = takeAndDeal(5, first, deal).at(-1);
  first?.emit('exit');
  second?.emit('exit');
  vi.advanceTimersByTime(1_000);
  expect(counts()).toEqual([5, 1]);
  for (const each of [sent, held]) expect(each?.close).toHaveBeenCalledOnce();
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
