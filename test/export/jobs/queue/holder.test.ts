import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { type Holder, isGone, thisHolder } from '../../../../src/export/jobs/queue/sql-job-queue.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

const isLinux = process.platform === 'linux';

function here(): Holder {
  const holder = thisHolder();
  if (holder === null) throw new Error('this process has no name');
  return holder;
}

/** Field 22 of proc(5). The programs of these tests have no parentheses in their names. */
const startTicksOf = (pid: number): string => readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[21] ?? '';
const holderOf = (pid: number): Holder => ({ ...here(), pid, startTicks: startTicksOf(pid) });

describe.runIf(isLinux)('isGone() (whether the process that runs a job has ended)', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  const start = (command: string): ChildProcess => {
    const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    return child;
  };

  test('returns false for this process and for another running process', () => {
    expect(isGone(here(), here())).toBe(false);
    expect(isGone(holderOf(start('exec sleep 60').pid ?? 0), here())).toBe(false);
  });

  test('returns true for a killed process', async () => {
    const child = start('exec sleep 60');
    const holder = holderOf(child.pid ?? 0);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isGone(holder, here())).toBe(true);
  });

  test('returns true for a killed process whose parent has not waited for it', async () => {
    // The program that replaces `sh` does not know its children, and never waits for them.
    const parent = start('sleep 60 & echo $!; exec sleep 60');
    const [line] = (await once(parent.stdout as NonNullable<ChildProcess['stdout']>, 'data')) as [Buffer];
    const holder = holderOf(Number(line));
    // Until `exec` replaces the shell, the shell waits for its children.
    await waitFor(
      () => (readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n' ? true : null),
      () => 'not turned into sleep',
    );
    process.kill(holder.pid, 'SIGKILL');
    await waitFor(
      () => (isGone(holder, here()) ? true : null),
      () => 'not seen as gone',
    );
    expect(readFileSync(`/proc/${holder.pid}/stat`, 'utf8')).toContain(') Z ');
  });

  test('returns true if the process id now belongs to a later process', () => {
    expect(isGone({ ...here(), startTicks: '1' }, here())).toBe(true);
  });

  test.for<[string, Partial<Holder>]>([
    ['another boot or another host', { bootId: '00000000-0000-0000-0000-000000000000' }],
    ['another container', { pidNamespace: 'pid:[1]' }],
  ])('returns false for a process of %s', ([, other]) => {
    const dead = { ...here(), startTicks: '1' };
    expect(isGone({ ...dead, ...other }, here())).toBe(false);
    expect(isGone(dead, null)).toBe(false);
  });
});
