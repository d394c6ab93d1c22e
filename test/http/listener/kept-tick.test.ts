import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const LISTENER = new URL('../../../src/http/listener/listener.ts', import.meta.url);
const COLLECTIONS = 8;
/** Seven without the entry that is kept, one with it. */
const RATIO_MAX = 3;

/** Prints how much longer a call of `process.nextTick` takes after collections that found no entry alive. */
const MEASURE = `
  await import(${JSON.stringify(LISTENER.href)});
  const { setTimeout: sleep } = await import('node:timers/promises');
  const CALLS = 200_000;
  const nsOfCalls = () => new Promise((resolve) => {
    const begun = process.hrtime.bigint();
    let left = CALLS;
    const again = () => (--left === 0 ? resolve(Number(process.hrtime.bigint() - begun)) : process.nextTick(again));
    process.nextTick(again);
  });
  const best = async () => {
    const times = [];
    for (let round = 0; round < 8; round += 1) times.push(await nsOfCalls());
    return Math.min(...times);
  };
  const before = await best();
  for (let count = 0; count < ${COLLECTIONS}; count += 1) {
    globalThis.gc();
    await sleep(10);
  }
  console.log((await best()) / before);
`;

it('keeps what calls of nextTick are compiled for through collections of an idle process', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    '--input-type=module',
    '--eval',
    MEASURE,
  ]);
  expect(Number(stdout)).toBeGreaterThan(0);
  expect(Number(stdout)).toBeLessThan(RATIO_MAX);
}, 60_000);
