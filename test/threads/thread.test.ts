import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { DocshelfError } from '../../src/domain/errors.ts';
import { isRunning } from '../../src/files/owner.ts';
import { HEAPS, Thread, type ThreadOptions, threadEntry } from '../../src/threads/index.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { watchThreads } from '../helpers/watch-threads.ts';
import type { TestCalls } from './worker.ts';

const ENTRY = threadEntry('./worker', import.meta);

let watched: ReturnType<typeof watchThreads>;
let open: Thread<TestCalls>[];
beforeEach(() => {
  watched = watchThreads();
  open = [];
});
afterEach(async () => {
  for (const thread of open) await thread.end({ withinMs: 1_000 });
  expect(watched.alive()).toBe(0);
  watched.stop();
});

function start(options: Partial<ThreadOptions> = {}): Thread<TestCalls> {
  const thread = new Thread<TestCalls>({ task: 'test', heap: HEAPS.queue, entry: ENTRY, ...options });
  open.push(thread);
  return thread;
}

const started = (): Worker[] => watched.started;
const lastStarted = (): Worker => started().at(-1) as Worker;

describe('Thread.call()', () => {
  it('fails if the process cannot start, and the next call starts another process', async () => {
    const thread = start({ isProcess: true });
    const program = process.execPath;
    process.execPath = '/nowhere/node';
    onTestFinished(() => {
      process.execPath = program;
    });
    const refused = thread.call('add', { a: 1, b: 2 });
    await expect(refused).rejects.toMatchObject({ message: expect.stringMatching(/cannot be started \(.*ENOENT/) });
    process.execPath = program;
    expect(await thread.call('add', { a: 1, b: 2 })).toBe(3);
  });

  it('runs the handler with the called name, in a thread that the first call starts', async () => {
    const thread = start({ data: { folder: '/data' } });
    expect(started()).toHaveLength(0);
    expect(await thread.call('add', { a: 1, b: 2 })).toBe(3);
    expect(await thread.call('data', null)).toEqual({ folder: '/data' });
    const answers = [thread.call('later', { value: 'slow', ms: 50 }), thread.call('add', { a: 3, b: 4 })];
    expect(await Promise.race(answers)).toBe(7);
    expect(thread.waiting).toBe(1);
    expect(await Promise.all(answers)).toEqual(['slow', 7]);
    expect(started()).toHaveLength(1);
  });

  it('rejects with the code, advice and fields of a DocshelfError from the handler, or else with an internal error', async () => {
    const thread = start();
    await expect(thread.call('refuse', 'Look.')).rejects.toMatchObject({
      code: 'bad_source',
      message: 'Cannot read "x": it is empty',
      next: 'Look.',
      fields: { at: 1 },
    });
    await expect(thread.call('fail', null)).rejects.toMatchObject({ code: 'internal', message: 'unforeseen' });
    await expect(thread.call('unsendable', null)).rejects.toBeInstanceOf(DocshelfError);
    const unsendable = { a: 1, b: 2, c: () => undefined };
    await expect(thread.call('add', unsendable)).rejects.toBeInstanceOf(DocshelfError);
    expect(await thread.call('add', { a: 1, b: 1 })).toBe(2);
  });

  it('copies memory in both directions', async () => {
    const bytes = Uint8Array.of(1, 2, 3);
    const reversed = await start().call('reverse', bytes);
    expect([bytes.length, ...reversed]).toEqual([3, 3, 2, 1]);
  });

  it('is rejected if too many calls wait, unless it is urgent', async () => {
    const thread = start({ callsMax: 2, codes: { full: 'queue_full' } });
    const waiting = [1, 2].map((at) => thread.call('later', { value: `${at}`, ms: 50 }));
    await expect(thread.call('add', { a: 1, b: 1 })).rejects.toMatchObject({
      code: 'queue_full',
      message: 'Cannot test now: too many calls are waiting',
      fields: { retryAfterS: 1 },
    });
    expect(await thread.call('add', { a: 1, b: 1 }, { isUrgent: true })).toBe(2);
    expect(await Promise.all(waiting)).toEqual(['1', '2']);
    expect(await thread.call('add', { a: 1, b: 1 })).toBe(2);
  });

  it('is rejected if its argument is too large to copy', async () => {
    const value = 'x'.repeat(64 * 1024 ** 2 + 1);
    await expect(start().call('later', { value, ms: 0 })).rejects.toMatchObject({ code: 'payload_too_large' });
  });

  it('lets a handler in the thread call a function of the parent', async () => {
    const handlers = {
      double: async (value: number) => value * 2,
      refuse: async (value: number) => {
        throw new DocshelfError('embedder_failed', `Cannot embed: ${value}`);
      },
    };
    const thread = start({ handlers });
    expect(await thread.call('askBack', 4)).toEqual([8, 10]);
    await expect(thread.call('askBackInVain', 5)).rejects.toMatchObject({
      code: 'embedder_failed',
      message: 'Cannot embed: 5',
    });
  });
});

describe('Progress of Thread.call()', () => {
  it('arrives at most ten times a second, and always with its last value before the result', async () => {
    const progress: number[] = [];
    const answer = start().call('tell', 10_000, { onProgress: ({ step }) => progress.push(step) });
    expect(await answer.then((result) => [result, progress.at(-1)])).toEqual(['told', 10_000]);
    expect(progress[0]).toBe(1);
    expect(progress.length).toBeLessThan(10);
  });
});

describe('Abort of Thread.call()', () => {
  it('reaches the handler in the thread, and makes the call reject with the abort reason after the handler has ended', async () => {
    const thread = start({ abortWithinMs: 10_000 });
    const stop = new AbortController();
    const waiting = thread.call('wait', null, { signal: stop.signal });
    await thread.call('count', null);
    const reason = new Error('canceled');
    stop.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(await thread.call('wasAborted', null)).toBe(true);
    expect(started()).toHaveLength(1);
  });

  it('terminates a thread that does not end in time, and the next call starts another thread', async () => {
    const thread = start({ abortWithinMs: 100 });
    await thread.call('count', null);
    const stop = new AbortController();
    const spinning = thread.call('spin', null, { signal: stop.signal });
    const reason = new Error('canceled');
    stop.abort(reason);
    await expect(spinning).rejects.toBe(reason);
    expect(watched.alive()).toBe(0);
    expect(await thread.call('count', null)).toBe(1);
  });

  it('terminates the thread immediately if `abortWithinMs` is not set', async () => {
    const stop = new AbortController();
    const thread = start({ signal: stop.signal });
    await thread.call('count', null);
    const spinning = thread.call('spin', null);
    stop.abort(new Error('canceled'));
    await expect(spinning).rejects.toThrow('canceled');
    expect(watched.alive()).toBe(0);
    await expect(thread.call('count', null)).rejects.toThrow('canceled');
    expect(started()).toHaveLength(1);
  });
});

describe('Thread that dies', () => {
  it('rejects its calls with the reason if its heap is full, and is replaced by the next call', async () => {
    let ends = 0;
    const thread = start({
      task: 'search',
      codes: { ended: 'index_damaged' },
      onEnd: () => {
        ends += 1;
      },
    });
    const lost = [thread.call('later', { value: 'x', ms: 60_000 }), thread.call('fill', null)];
    for (const call of lost) {
      await expect(call).rejects.toMatchObject({
        code: 'index_damaged',
        message: 'Cannot search: its thread needs more than 128 MiB of memory',
      });
    }
    expect(ends).toBe(1);
    expect(await thread.call('count', null)).toBe(1);
    expect(started()).toHaveLength(2);
  });

  it('rejects waiting and new calls if it exits with an error or is terminated', async () => {
    const thread = start();
    await expect(thread.call('exit', 3)).rejects.toMatchObject({
      code: 'worker_ended',
      message: 'Cannot test: its thread ended with 3',
    });
    await thread.call('count', null);
    const terminating = lastStarted().terminate();
    await expect(thread.call('count', null)).rejects.toBeInstanceOf(DocshelfError);
    await terminating;
    await thread.call('count', null);
    const waiting = thread.call('spin', null);
    const failing = expect(waiting).rejects.toBeInstanceOf(DocshelfError);
    await thread.terminate();
    await failing;
    expect(await thread.call('count', null)).toBe(1);
  });

  it('is not replaced if `isReplaced` is false', async () => {
    const thread = start({ isReplaced: false });
    await expect(thread.call('exit', 4)).rejects.toMatchObject({ code: 'worker_ended' });
    await expect(thread.call('count', null)).rejects.toThrow('ended with 4');
    expect(started()).toHaveLength(1);
  });

  it('rejects its call with the reason if it dies before it can respond', async () => {
    const thread = start({ entry: new URL('data:text/javascript,throw new Error("no such library")') });
    await expect(thread.call('count', null)).rejects.toMatchObject({
      code: 'internal',
      message: 'Cannot test: its thread failed (no such library)',
    });
  });
});

describe('Thread.end()', () => {
  it('waits for pending calls, and prevents further starts', async () => {
    const thread = start();
    const waiting = thread.call('later', { value: 'answered', ms: 100 });
    await thread.end({ withinMs: 10_000 });
    expect(watched.alive()).toBe(0);
    expect(await waiting).toBe('answered');
    await expect(thread.call('count', null)).rejects.toMatchObject({ code: 'stopping' });
    await thread.end({ withinMs: 10_000 });
    expect(started()).toHaveLength(1);
  });

  it('terminates a thread that does not end in time', async () => {
    const thread = start();
    await thread.call('count', null);
    const spinning = expect(thread.call('spin', null)).rejects.toMatchObject({ code: 'worker_ended' });
    await thread.end({ withinMs: 100 });
    await spinning;
  });

  it('does not start a thread that never ran', async () => {
    await start().end({ withinMs: 0 });
    expect(started()).toHaveLength(0);
  });
});

describe('Thread with the option isProcess', () => {
  it('passes values, memory, errors, progress and calls to the parent, as a thread without this option does', async () => {
    const handlers = { double: async (value: number) => value * 2 };
    const own = start({ isProcess: true, handlers });
    expect(await own.call('add', { a: 1, b: 2 })).toBe(3);
    expect(await own.call('reverse', Uint8Array.of(1, 2, 3))).toEqual(Uint8Array.of(3, 2, 1));
    await expect(own.call('refuse', 'Look.')).rejects.toMatchObject({ code: 'bad_source', next: 'Look.' });
    expect(await own.call('askBack', 4)).toEqual([8, 10]);
    const progress: number[] = [];
    await own.call('tell', 10_000, { onProgress: ({ step }) => progress.push(step) });
    expect(progress.at(-1)).toBe(10_000);
    expect(started()).toHaveLength(0);
  });

  it('is killed if it does not end in time, and the next call starts another process', async () => {
    const own = start({ isProcess: true, abortWithinMs: 100 });
    const first = await own.call('pid', null);
    const stop = new AbortController();
    const spinning = own.call('spin', null, { signal: stop.signal });
    stop.abort(new Error('canceled'));
    await expect(spinning).rejects.toThrow('canceled');
    expect(isRunning(first, null)).toBe(false);
    expect(await own.call('pid', null)).not.toBe(first);
  });

  it('rejects its calls with the reason if the process ends or its heap is full, and does not affect the parent', async () => {
    const own = start({ isProcess: true });
    await expect(own.call('fill', null)).rejects.toThrow('Cannot test: its process needs more than 128 MiB of memory');
    await expect(own.call('exit', 3)).rejects.toThrow('Cannot test: its process ended with 3');
    const killed = own.call('later', { value: 'never', ms: 60_000 });
    const failing = expect(killed).rejects.toThrow('Cannot test: its process was ended by SIGKILL');
    await own.terminate();
    await failing;
  });

  it.runIf(process.platform === 'linux')('is killed if its memory exceeds `residentBytesMax`', async () => {
    const own = start({ isProcess: true, residentBytesMax: 256 * 1024 ** 2 });
    await expect(own.call('hoard', null)).rejects.toMatchObject({
      code: 'worker_ended',
      message: 'Cannot test: its process needs more than 256 MiB of memory',
    });
    expect(await own.call('add', { a: 1, b: 1 })).toBe(2);
  });

  it('ends after its pending calls, and ignores SIGTERM, SIGINT and SIGHUP', async () => {
    const own = start({ isProcess: true });
    const pid = await own.call('pid', null);
    const waiting = own.call('later', { value: 'answered', ms: 200 });
    process.kill(pid, 'SIGTERM');
    process.kill(pid, 'SIGINT');
    process.kill(pid, 'SIGHUP');
    await own.end({ withinMs: 30_000 });
    expect(await waiting).toBe('answered');
    expect(isRunning(pid, null)).toBe(false);
  });

  it.each(['', 'sharesPorts: true'])('rejects each call if its process cannot start (%s)', async (sharing) => {
    const { child, output } = await runProgram(
      `isProcess: true, ${sharing}`,
      `process.execPath = '/nowhere';
       const told = ({ message }) => console.log(message);
       thread.call('pid', null).catch(told).then(() => thread.call('pid', null)).catch(told);`,
    );
    await once(child, 'close');
    expect(output()).toMatch(/^(?:Cannot test: its process cannot be started \(spawn .*ENOENT\)\n){2}$/);
  });

  it('ends when its parent ends, whatever the reason', async () => {
    const program = `thread.call('pid', null).then((pid) => { console.log(pid); thread.call('later', { value: '', ms: 60_000 }); });`;
    const { child, output } = await runProgram('isProcess: true', program);
    await expect.poll(output).toMatch(/\d+\n/);
    const pid = Number(output());
    expect(isRunning(pid, null)).toBe(true);
    child.kill('SIGKILL');
    await expect.poll(() => isRunning(pid, null)).toBe(false);
  });

  it('does not keep the parent process alive if no call is pending', async () => {
    const { child, output } = await runProgram(
      'isProcess: true',
      `thread.call('add', { a: 1, b: 1 }).then(console.log);`,
    );
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(output()).toBe('2\n');
  });
});

describe('Parent process of a Thread', () => {
  it('stays alive only while a call waits', async () => {
    const { child, output } = await runProgram(
      '',
      `thread.call('later', { value: 'answered', ms: 300 }).then(console.log);`,
    );
    const ended = await once(child, 'close');
    expect([ended, output()]).toEqual([[0, null], 'answered\n']);
  });
});

/** Runs another process that starts a `thread`. */
async function runProgram(
  options: string,
  body: string,
): Promise<{ readonly child: ChildProcess; readonly output: () => string }> {
  const folder = newFolder();
  const program = join(folder, 'program.mjs');
  await writeFile(
    program,
    `const { Thread } = await import(${JSON.stringify(new URL('../../src/threads/index.ts', import.meta.url).href)});
     const entry = new URL(${JSON.stringify(ENTRY.href)});
     const thread = new Thread({ task: 'test', heap: { maxOldGenerationSizeMb: 128 }, entry, ${options} });
     ${body}`,
  );
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  return { child, output: () => text };
}
