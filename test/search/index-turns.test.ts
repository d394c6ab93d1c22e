import { expect, it, vi } from 'vitest';
import { IndexTurns } from '../../src/search/indexing/index-builds.ts';

const TURN_MS = 10;
const NEVER = new AbortController().signal;

/** Work with several steps. Completed steps stay done, like vectors in the cache. */
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

it('IndexTurns (queue of index builds and embeddings) interrupts a huge release for waiting releases, and then runs the huge release to its end', async () => {
  const turns = new IndexTurns({ turnMs: TURN_MS });
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
  // The second turn of the huge release has no time limit, because no other release waits.
  expect(log.filter((line) => line.startsWith('huge from'))).toHaveLength(2);
});

it('IndexTurns (queue of index builds and embeddings) alternates between two huge releases, so that each turn makes progress', async () => {
  const turns = new IndexTurns({ turnMs: TURN_MS });
  const log: string[] = [];
  const step = async (signal: AbortSignal, wasDone: number): Promise<number> => {
    // A step ends before the end of the turn is checked.
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

it('IndexTurns (queue of index builds and embeddings) does not count the time to resume work as part of a turn', async () => {
  const turns = new IndexTurns({ turnMs: TURN_MS });
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

it('IndexTurns (queue of index builds and embeddings) rejects the call if its work fails, and then starts the next work', async () => {
  const turns = new IndexTurns({ turnMs: TURN_MS });
  const failing = turns.embed(() => Promise.reject(new Error('no model')), NEVER);
  const next = turns.embed(async () => 'next', NEVER);
  await expect(failing).rejects.toThrow('no model');
  expect(await next).toBe('next');
});

it('IndexTurns (queue of index builds and embeddings) removes waiting work from the queue immediately if this work is aborted', async () => {
  const turns = new IndexTurns({ turnMs: TURN_MS });
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

it('IndexTurns (queue of index builds and embeddings) interrupts an embedding for a build, and resumes the embedding after the build', async () => {
  const turns = new IndexTurns();
  const log: string[] = [];
  const embedding = turns.embed(release(5, log, 'huge'), NEVER);
  const waiting = turns.embed(release(0, log, 'small'), NEVER);
  const builds = ['a', 'b'].map((name) => turns.build(1, async () => void log.push(`build ${name}`), NEVER));
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

const SOON = { longBuildMs: 10 };
const settled = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('IndexTurns (queue of index builds and embeddings) starts the smallest waiting build first', async () => {
  const turns = new IndexTurns();
  const log: number[] = [];
  const end = Promise.withResolvers<void>();
  const running = turns.build(9, () => end.promise, NEVER);
  const others = [5, 3, 7, 3].map((size) => turns.build(size, async () => void log.push(size), NEVER));
  await settled();
  expect(log).toEqual([]);
  end.resolve();
  await Promise.all([running, ...others]);
  expect(log).toEqual([3, 3, 5, 7]);
});

it('IndexTurns (queue of index builds and embeddings) runs one smaller build at a time in parallel to a long build, and larger builds after the long build', async () => {
  const turns = new IndexTurns(SOON);
  const log: string[] = [];
  const ends = { huge: Promise.withResolvers<void>(), first: Promise.withResolvers<void>() };
  const note = (name: string) => async (place: string) => void log.push(`${name} ${place}`);
  const huge = turns.build(100, () => ends.huge.promise, NEVER);
  const larger = turns.build(200, note('larger'), NEVER);
  const first = turns.build(
    1,
    async (place) => {
      log.push(`first ${place}`);
      await ends.first.promise;
    },
    NEVER,
  );
  const second = turns.build(2, note('second'), NEVER);
  await vi.waitFor(() => expect(log).toEqual(['first aside']), 30_000);
  await settled();
  expect(log).toEqual(['first aside']);
  ends.first.resolve();
  await Promise.all([first, second]);
  // The third build arrives while a long build is already running.
  await turns.build(3, note('third'), NEVER);
  expect(log).toEqual(['first aside', 'second aside', 'third aside']);
  ends.huge.resolve();
  await Promise.all([huge, larger]);
  expect(log.at(-1)).toBe('larger main');
});

it('IndexTurns (queue of index builds and embeddings) removes an aborted build from the queue, and rejects a build that fails in parallel to another build', async () => {
  const turns = new IndexTurns(SOON);
  const end = Promise.withResolvers<void>();
  const huge = turns.build(100, () => end.promise, NEVER);
  const abort = new AbortController();
  const waiting = turns.build(200, async () => 'never', abort.signal);
  abort.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(turns.build(1, () => Promise.reject(new Error('no memory')), NEVER)).rejects.toThrow('no memory');
  end.resolve();
  await huge;
  await settled();
  expect([turns.builds, turns.waiting]).toEqual([0, 0]);
  expect(await turns.embed(async () => 'embedded', NEVER)).toBe('embedded');
});
