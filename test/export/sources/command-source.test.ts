import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { DocshelfError } from '../../../src/domain/errors.ts';
import type { CommandSettings } from '../../../src/domain/organization.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { collectOutput } from '../../../src/export/sources/command-source.ts';
import { newFolder } from '../../helpers/new-folder.ts';

const NEVER = new AbortController().signal;

let workDir: string;
let locks: string;

beforeEach(async () => {
  [workDir, locks] = [newFolder(), newFolder()];
});

/** Runs a script of the shell, which is also an easy way to start further processes. */
const shell = (script: string, more: Partial<CommandSettings> = {}): CommandSettings => ({
  kind: 'command',
  workDir,
  command: ['sh', '-c', script],
  output: 'dist',
  environment: {},
  timeoutMs: 60_000,
  ...more,
});

const build = (source: CommandSettings, signal = NEVER) =>
  collectOutput(source, locks, signal, async (folder) => folder.path);

const failureOf = (source: CommandSettings, signal = NEVER): Promise<DocshelfError> =>
  build(source, signal).then(
    () => Promise.reject(new Error('the export succeeds')),
    (error: DocshelfError) => error,
  );

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Waits until a script has written a process ID to the file `pid`. */
const startedPid = () =>
  vi.waitFor(async () => {
    const pid = Number(await readFile(join(workDir, 'pid'), 'utf8'));
    if (pid === 0) throw new Error('the file is empty');
    return pid;
  }, 30_000);

const untilEnded = (pid: number) => vi.waitFor(() => expect(isRunning(pid)).toBe(false), 30_000);

describe('collectOutput() (export of the output of a command)', () => {
  it('runs the command in workDir, and collects the folder that the command created', async () => {
    expect(await build(shell('mkdir dist && echo x > dist/index.html'))).toBe(join(workDir, 'dist'));
    expect(existsSync(join(workDir, 'dist/index.html'))).toBe(true);
  });

  it('runs the command without a shell', async () => {
    const command = ['mkdir', 'dist', '$HOME;x'];
    await build(shell('', { command }));
    expect(existsSync(join(workDir, '$HOME;x'))).toBe(true);
  });

  it('passes only PATH, HOME, LANG and the named variables to the command', async () => {
    vi.stubEnv('DOCSHELF__ADMIN__TOKEN', 'c4n4ry');
    vi.stubEnv('LANG', 'C.UTF-8');
    const command = [process.execPath, '-e', 'require("fs").writeFileSync("dist", JSON.stringify(process.env))'];
    await build(shell('', { command, environment: { SITE: new Secret('https://x'), EMPTY: new Secret('') } }));
    const { PATH, HOME } = process.env;
    const env = JSON.parse(await readFile(join(workDir, 'dist'), 'utf8'));
    expect(env).toEqual({ PATH, HOME, LANG: 'C.UTF-8', SITE: 'https://x', EMPTY: '' });
  });

  it('finds the program through the variable PATH in the setting environment', async () => {
    await mkdir(join(workDir, 'bin'));
    await writeFile(join(workDir, 'bin/generate'), '#!/bin/sh\n/bin/mkdir dist', { mode: 0o755 });
    await build(shell('', { command: ['generate'], environment: { PATH: new Secret(join(workDir, 'bin')) } }));
  });
});

describe('collectOutput() with a command that fails', () => {
  it('reports the exit code and the last lines of both outputs', async () => {
    const script = 'seq 100 >&2; sleep 0.2; printf "\\033[31mbroken\\033[0m\\a page.md\\r\\n"; exit 3';
    const { code, message, next } = await failureOf(shell(script));
    expect([code, next]).toEqual(['bad_source', expect.stringContaining('environment')]);
    expect(message).toContain(`Cannot export "${workDir}": its command "sh" ended with exit code 3`);
    expect(message).toMatch(/"82\n83\n[\d\n]+100\nbroken\\u\{7\} page\.md"$/);
  });

  it('reports the signal that ended the command', async () => {
    expect((await failureOf(shell('kill -TERM $$'))).message).toMatch(/ended with SIGTERM$/);
  });

  it.each([
    ['missing', ['no-such-generator'], 'ENOENT'],
    ['a folder', ['/'], 'EACCES'],
  ])('reports a program that is %s', async (_, command, errno) => {
    const { code, message } = await failureOf(shell('', { command }));
    expect([code, message]).toEqual(['bad_source', expect.stringContaining(`cannot be started (${errno})`)]);
  });

  it('reports a workDir that is a file', async () => {
    const file = join(workDir, 'file');
    await writeFile(file, '');
    const { code, message, next } = await failureOf(shell('true', { workDir: file }));
    expect([code, next]).toEqual(['bad_source', expect.stringContaining('workDir')]);
    expect(message).toContain('cannot be started (ENOTDIR)');
  });

  it('reports that docshelf has too many open files to start the program', async () => {
    const module = new URL('../../../src/export/sources/command-source.ts', import.meta.url);
    const order = `${JSON.stringify(shell('true'))}, ${JSON.stringify(locks)}, new AbortController().signal`;
    const script = `
      import { openSync, writeSync } from 'node:fs';
      import { collectOutput } from '${module}';
      try { for (;;) openSync('/dev/null'); } catch {}
      await collectOutput(${order}).catch(({ message }) => writeSync(1, message));`;
    const limited = ['-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', script];
    const { stdout } = await promisify(execFile)('sh', limited);
    expect(stdout).toContain('cannot be started (EMFILE)');
  });

  it('reports a workDir that does not exist, instead of a missing program', async () => {
    const { code, message } = await failureOf(shell('true', { workDir: join(workDir, 'none') }));
    expect([code, message]).toEqual(['bad_source', expect.stringContaining('none": it does not exist')]);
  });

  it('replaces the values of the setting environment in the reported output', async () => {
    const environment = {
      TOKEN: new Secret('c4n4ry-1\nc4n4ry-2'),
      LONG: new Secret('c4n4ry-1-long'),
      CI: new Secret('1'),
    };
    const { message } = await failureOf(shell('echo "$TOKEN $LONG $CI"; exit 1', { environment }));
    expect(message).toContain('"[redacted]\n[redacted] [redacted] 1"');
  });

  it('replaces a value that the command writes in two parts, with a line of the error output in between', async () => {
    const environment = { TOKEN: new Secret('c4n4ry-secret') };
    const script = 'printf c4n4ry; sleep 0.2; echo warning >&2; sleep 0.2; echo -secret; printf end; exit 1';
    const { message } = await failureOf(shell(script, { environment }));
    expect(message).toContain('"warning\n[redacted]\nend"');
  });

  it('reports no part of a long secret that the output repeats', async () => {
    const environment = { TOKEN: new Secret('c4n4ry'.repeat(1_500)) };
    const { message } = await failureOf(
      shell('for i in 1 2 3 4 5 6 7 8 9; do echo "$TOKEN"; done; exit 1', { environment }),
    );
    expect(message).toContain('[redacted]');
    expect(message).not.toContain('c4n4ry');
  });

  it('keeps only the end of an output of 500 MB', async () => {
    const before = process.memoryUsage().rss;
    const { message } = await failureOf(shell('head -c 500000000 /dev/zero; echo; echo end; exit 1'));
    expect(message).toMatch(/is "end"$/);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 ** 2);
  });

  it('reports at most 2,000 characters of a long line', async () => {
    const { message } = await failureOf(shell('head -c 10000 /dev/zero | tr "\\0" x; exit 1'));
    expect(message).toMatch(/"x{2000}"$/);
  });
});

describe('collectOutput(), ending the processes of the command,', () => {
  const GRANDCHILD = 'sh -c "sleep 1000 & echo \\$! > pid; wait" & wait';

  it('ends the whole process group if the job is aborted', async () => {
    const controller = new AbortController();
    const building = failureOf(shell(GRANDCHILD), controller.signal);
    const pid = await startedPid();
    controller.abort(new Error('canceled'));
    expect(await building).toMatchObject({ message: 'canceled' });
    await untilEnded(pid);
  });

  it('ends the whole process group after the timeout, and reports the last lines', async () => {
    const { message, next } = await failureOf(shell(`echo waiting; ${GRANDCHILD}`, { timeoutMs: 500 }));
    expect(message).toContain('did not end within 0.5 s. The end of its output is "waiting"');
    expect(next).toContain('timeout');
    await untilEnded(await startedPid());
  });

  it('ends processes that the command left in the background', async () => {
    await build(shell('mkdir dist; sleep 1000 & echo $! > pid'));
    await untilEnded(await startedPid());
  });

  it('does not wait for a process that left the group and keeps the output open', async () => {
    await build(shell('mkdir dist; setsid sleep 1000 & echo $! > pid; exec sleep 0.1'));
    const pid = await startedPid();
    expect(isRunning(pid)).toBe(true);
    process.kill(pid);
  });

  it('starts no command if the job is already aborted', async () => {
    const signal = AbortSignal.abort(new Error('canceled'));
    expect(await failureOf(shell('touch started'), signal)).toMatchObject({ message: 'canceled' });
    expect(existsSync(join(workDir, 'started'))).toBe(false);
  });
});

describe('the output folder of a command in collectOutput()', () => {
  it('causes an error if the command did not create it', async () => {
    const { code, message } = await failureOf(shell('true'));
    expect([code, message]).toEqual(['bad_source', expect.stringContaining('/dist": it does not exist')]);
  });

  it('is rejected if it is a symbolic link out of workDir', async () => {
    await symlink(newFolder(), join(workDir, 'dist'));
    const { code, message } = await failureOf(shell('true'));
    expect([code, message]).toEqual(['bad_source', expect.stringContaining('leaves workDir')]);
  });

  it('can be a symbolic link within workDir', async () => {
    expect(await build(shell('mkdir v2; ln -s v2 dist'))).toBe(join(workDir, 'v2'));
  });

  it('can be in a workDir that is itself a symbolic link', async () => {
    const link = join(newFolder(), 'link');
    await symlink(workDir, link);
    expect(await build(shell('mkdir dist', { workDir: link }))).toBe(join(workDir, 'dist'));
  });
});

describe('collectOutput() for two jobs with the same workDir', () => {
  it('starts the second command after the first job has collected its output', async () => {
    const events: string[] = [];
    const job = (name: string) =>
      collectOutput(shell(`mkdir -p dist; echo ${name} > dist/index.html`), locks, NEVER, async ({ path }) => {
        for (let round = 0; round < 5; round += 1) {
          events.push((await readFile(join(path, 'index.html'), 'utf8')).trim());
          await sleep(30);
        }
      });
    await Promise.all([job('one'), job('two')]);
    expect([...new Set(events)]).toHaveLength(2);
    expect(events.join()).toMatch(/^(?:(?:one,){5}(?:two,?){5}|(?:two,){5}(?:one,?){5})$/);
  });

  it('ends the second job while it waits, if that job is aborted', async () => {
    const first = Promise.withResolvers<void>();
    const running = collectOutput(shell('mkdir dist'), locks, NEVER, () => first.promise);
    await vi.waitFor(() => expect(existsSync(join(workDir, 'dist'))).toBe(true), 30_000);
    const signal = AbortSignal.timeout(100);
    expect(await failureOf(shell('touch started'), signal)).toMatchObject({ name: 'TimeoutError' });
    expect(existsSync(join(workDir, 'started'))).toBe(false);
    first.resolve();
    await running;
  });
});
