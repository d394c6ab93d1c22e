import { setTimeout as sleep } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { DocshelfError } from '../../src/domain/errors.ts';
import { type CallContext, serve } from '../../src/threads/index.ts';

/** Thread for the contract test. */

export interface ParentCalls {
  double(value: number): Promise<number>;
  refuse(value: number): Promise<number>;
}

let calls = 0;
let isAborted = false;

const handlers = {
  add: ({ a, b }: { a: number; b: number }) => a + b,
  data: () => workerData as unknown,
  pid: () => process.pid,
  /** Number of calls in this thread. */
  count: () => ++calls,
  later: async ({ value, ms }: { value: string; ms: number }) => {
    await sleep(ms);
    return value;
  },
  refuse: (next: string): string => {
    throw new DocshelfError('bad_source', 'Cannot read "x": it is empty', { next, fields: { at: 1 } });
  },
  fail: (): number => {
    throw new Error('unforeseen');
  },
  unsendable: () => () => undefined,
  tell: async (steps: number, { progress }: CallContext<{ readonly step: number }>) => {
    for (let step = 1; step <= steps; step += 1) progress({ step });
    return 'told';
  },
  wait: (_: null, { signal }: CallContext) =>
    new Promise<string>((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        isAborted = true;
        reject(signal.reason as Error);
      });
    }),
  wasAborted: () => isAborted,
  spin: (): never => {
    for (;;);
  },
  fill: (): number => {
    const kept: string[][] = [];
    for (;;) kept.push(Array.from({ length: 1000 }, (_, at) => `${at} of ${kept.length}`));
  },
  /** Memory outside of V8's limits. */
  hoard: async (): Promise<never> => {
    const kept: Buffer[] = [];
    for (;;) {
      kept.push(Buffer.alloc(8 * 1024 ** 2, 1));
      await sleep(5);
    }
  },
  exit: (code: number): never => process.exit(code),
  reverse: (bytes: Uint8Array<ArrayBuffer>) => bytes.reverse(),
  askBack: async (value: number) => [await parent.call('double', value), await parent.call('double', value + 1)],
  askBackInVain: (value: number) => parent.call('refuse', value),
};
export type TestCalls = typeof handlers;

const parent = serve<ParentCalls>(handlers);
