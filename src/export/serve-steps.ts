import type { MessagePort } from 'node:worker_threads';
import { type PlainError, toDocshelfError } from '../domain/errors.ts';
import type { CheckOrder, CollectOrder, DescribeOrder, PackOrder, SweepOrder, VerifyOrder } from './orders.ts';
import type { SiteCrawler } from './ports.ts';
import { check, collect, describe, pack, sweep, verify } from './steps.ts';

/** A job's thread: one step at a time, each asked for with plain data and answered with plain data. */
export type StepOrder =
  | ({ readonly step: 'collect' } & CollectOrder)
  | ({ readonly step: 'check' } & CheckOrder)
  | ({ readonly step: 'verify' } & VerifyOrder)
  | ({ readonly step: 'describe' } & DescribeOrder)
  | ({ readonly step: 'pack' } & PackOrder)
  | ({ readonly step: 'sweep' } & SweepOrder);

export type StepMessage =
  | { readonly kind: 'progress'; readonly done: number; readonly total: number; readonly pages: number | null }
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly error: PlainError };

/** Steps report after every file; the process that listens has others to answer. */
const PROGRESS_EVERY_MS = 100;

/** The thread is ended from outside: nothing in it is ever aborted. */
const never = new AbortController().signal;

/** Does what a job's thread is asked through a port. @param crawler for sources that are crawled */
export function serveSteps(port: MessagePort, crawler: SiteCrawler): void {
  const post = (message: StepMessage): void => port.postMessage(message);
  port.on('message', (order: StepOrder) => {
    run(order, crawler, post).then(
      (result) => post({ kind: 'done', result }),
      (error: unknown) => post({ kind: 'failed', error: toDocshelfError(error).toPlain() }),
    );
  });
}

function run(order: StepOrder, crawler: SiteCrawler, post: (message: StepMessage) => void): Promise<unknown> {
  let postedAt = 0;
  const onStep = (done: number, total: number, pages?: number): void => {
    const now = performance.now();
    if (now - postedAt < PROGRESS_EVERY_MS && done < total) return;
    postedAt = now;
    post({ kind: 'progress', done, total, pages: pages ?? null });
  };
  switch (order.step) {
    case 'collect':
      return collect(order, crawler, onStep, never);
    case 'check':
      return check(order, onStep, never);
    case 'verify':
      return verify(order, crawler, onStep, never);
    case 'describe':
      return describe(order);
    case 'pack':
      return pack(order, onStep, never);
    case 'sweep':
      return sweep(order, crawler);
  }
}
