import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ServingProcess } from '../../../src/app/workers/serving-process.ts';
import { DocshelfError } from '../../../src/domain/errors.ts';

async function start(): Promise<{ readonly own: ServingProcess; readonly faults: string[] }> {
  const faults: string[] = [];
  const own = new ServingProcess({
    start: () => ({ cacheBytes: 1024 ** 2, trustedProxies: [], socket: join(tmpdir(), 'docshelf-nowhere') }),
    open: async () => ({ url: '', port: 0, address: '' }),
    calls: { report: () => undefined, fault: () => undefined },
    onEnded: ({ message }) => faults.push(message),
  });
  // It listens to nobody, and is told to end by no more than that.
  onTestFinished(() => own.stop(0));
  await own.start();
  return { own, faults };
}

it('takes the swaps of any number of sites at once', { timeout: 60_000 }, async () => {
  const { own, faults } = await start();
  let refused = 0;
  const tell = (at: number): Promise<void> =>
    own.tell((call, options) =>
      call('prepare', { key: `site-${at}`, stamp: 1, order: null }, options).catch((error) => {
        refused++;
        throw error;
      }),
    );
  await Promise.all(Array.from({ length: 1_200 }, (_, at) => tell(at)));
  expect([refused, faults]).toEqual([0, []]);
});

it('that refuses what it is told is ended, and told is the one in its place', { timeout: 60_000 }, async () => {
  const { own, faults } = await start();
  const former = own.running?.pid;
  await own.tell(() => Promise.reject(new DocshelfError('busy', 'Cannot use it now')));
  expect(own.running?.pid).toBeGreaterThan(0);
  expect(own.running?.pid).not.toBe(former);
  expect(faults).toEqual([expect.stringContaining('SIGKILL')]);
});
