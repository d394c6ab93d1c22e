import { expect, it } from 'vitest';
import { IndexTurns } from '../../src/search/index-turns.ts';

const TURN_MS = 10;
const NEVER = new AbortController().signal;

/** Work in so many steps, of which each that is done stays done, as vectors in the cache do. */
function release(steps: number, log: string[], name: string) {
  let done = 0;
  return async (signal: AbortSignal, onBegun: () => void): Promise<string> => {
    log.push(`${name} from ${done}`);
    onBegun();
    while (done < steps) {
      await new Promise((resolve) => setTimeout(resolve, 2 * TURN_MS));
      signal.throwIfAborted();
      done += 1;
    }
    log.push(`${name} is done`);
    return name;
  };
}

it('lets one that is huge go on alone, and in turns with those that wait, in the order of their asking', async () => {
  const turns = new IndexTurns(TURN_MS);
  const log: string[] = [];
  const huge = turns.embed(release(12, log, 'huge'), NEVER);
  const small = ['a', 'b', 'c'].map((name) => turns.embed(release(0, log, name), NEVER));
  expect(await Promise.all([huge, ...small])).toEqual(['huge', 'a', 'b', 'c']);
  expect(log[0]).toBe('huge from 0');
  expect(log.filter((line) => line.endsWith('is done'))).toEqual([
    'a is done',
    'b is done',
    'c is done',
    'huge is done',
  ]);
  // Nobody waited any more: it had all the time that it needed.
  expect(log.filter((line) => line.startsWith('huge from'))).toHaveLength(2);
});

it('gives two that are huge their turns by and by, and each turn gets further', async () => {
  const turns = new IndexTurns(TURN_MS);
  const log: string[] = [];
  const step = async (signal: AbortSignal, wasDone: number): Promise<number> => {
    // A step is done before the turn's end is looked at.
    await new Promise((resolve) => setTimeout(resolve, 2 * TURN_MS));
    signal.throwIfAborted();
    return wasDone + 1;
  };
  const endless = (name: string) => {
    let calls = 0;
    return async (signal: AbortSignal, onBegun: () => void): Promise<number> => {
      log.push(name);
      calls += 1;
      onBegun();
      if (calls === 3) return calls;
      for (let done = 0; ; ) done = await step(signal, done);
    };
  };
  await Promise.all([turns.embed(endless('one'), NEVER), turns.embed(endless('other'), NEVER)]);
  expect(log).toEqual(['one', 'other', 'one', 'other', 'one', 'other']);
});

it('does not count what it takes to go on', async () => {
  const turns = new IndexTurns(TURN_MS);
  let calls = 0;
  const slowToBegin = async (signal: AbortSignal, onBegun: () => void): Promise<void> => {
    calls += 1;
    await new Promise((resolve) => setTimeout(resolve, 5 * TURN_MS));
    signal.throwIfAborted();
    onBegun();
  };
  await Promise.all([turns.embed(slowToBegin, NEVER), turns.embed(async () => undefined, NEVER)]);
  expect(calls).toBe(1);
});

it('throws what the work throws, and lets the next one have its turn', async () => {
  const turns = new IndexTurns(TURN_MS);
  const failing = turns.embed(() => Promise.reject(new Error('no model')), NEVER);
  const next = turns.embed(async () => 'next', NEVER);
  await expect(failing).rejects.toThrow('no model');
  expect(await next).toBe('next');
});

it('lets go at once of one that waits and is wanted no more', async () => {
  const turns = new IndexTurns(TURN_MS);
  const end = Promise.withResolvers<void>();
  const first = turns.embed(() => end.promise, NEVER);
  const abort = new AbortController();
  const second = turns.embed(async () => 'second', abort.signal);
  expect(turns.waiting).toBe(1);
  abort.abort(new Error('enough'));
  await expect(second).rejects.toThrow('enough');
  expect(turns.waiting).toBe(0);
  end.resolve();
  await first;
  expect(await turns.embed(async () => 'third', NEVER)).toBe('third');
});

it('builds before all that is embedded, ends the turn of that, and lets it go on afterwards', async () => {
  const turns = new IndexTurns();
  const log: string[] = [];
  const embedding = turns.embed(release(5, log, 'huge'), NEVER);
  const waiting = turns.embed(release(0, log, 'small'), NEVER);
  const builds = ['a', 'b'].map((name) => turns.build(async () => void log.push(`build ${name}`), NEVER));
  await Promise.all([embedding, waiting, ...builds]);
  expect(log).toEqual([
    'huge from 0',
    'build a',
    'build b',
    expect.stringMatching(/^huge from [01]$|^small from 0$/),
    expect.anything(),
    expect.anything(),
    expect.anything(),
  ]);
  expect(log).toContain('huge is done');
  expect(turns.builds).toBe(0);
});
