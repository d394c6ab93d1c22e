import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { errnoOf } from '../../domain/errors.ts';
import { badSource } from '../../domain/job.ts';
import type { CommandSettings, FolderSettings } from '../../domain/organization.ts';
import { printableLines } from '../../domain/text.ts';
import { whileLocked } from '../../files/file-lock.ts';
import { isInside } from '../../files/index.ts';
import { statSource } from './walk-folder.ts';

/**
 * Runs the command of a source, then calls `collect` with the folder that the command created. A lock per `workDir` ensures that
 * no other job changes this folder before `collect` ends.
 * @throws DocshelfError `bad_source`; the signal's reason, after the processes of the command have ended
 */
export async function collectOutput<Result>(
  source: CommandSettings,
  locksDir: string,
  signal: AbortSignal,
  collect: (folder: FolderSettings) => Promise<Result>,
): Promise<Result> {
  const { workDir, output } = source;
  await statSource(workDir, 'Set workDir of the source to a folder that docshelf can write to.');
  const root = await realpath(workDir);
  const lock = join(locksDir, createHash('sha256').update(root).digest('hex'));
  return whileLocked(lock, { mode: 'exclusive', waitMsMax: Infinity, signal }, async () => {
    await runCommand(source, signal);
    const place = join(workDir, output);
    const next = 'Set output of the source to the folder that the command creates, relative to workDir.';
    await statSource(place, next);
    const path = await realpath(place);
    if (path !== root && !isInside(path, root))
      throw badSource(place, 'it is a symbolic link that leaves workDir', next);
    return collect({ kind: 'folder', path });
  });
}

/** Time to read the remaining output after the process group has ended. A process outside the group can keep the pipes open. */
const DRAIN_MS = 1_000;

async function runCommand(source: CommandSettings, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { workDir, command, environment, timeoutMs } = source;
  const named = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, value.reveal()]));
  const { PATH, HOME, LANG } = process.env;
  const child = startCommand(source, { PATH, HOME, LANG, ...named });
  const end = (): void => endGroup(child);
  let isTooSlow = false;
  const timer = setTimeout(() => {
    isTooSlow = true;
    end();
  }, timeoutMs);
  signal.addEventListener('abort', end, { once: true });
  const watchdog = startWatchdog(child);
  const tail = tailOf([child.stdout, child.stderr]);
  child.once('exit', () => {
    end();
    setTimeout(() => [child.stdout, child.stderr].map((stream) => stream.destroy()), DRAIN_MS).unref();
  });
  const { promise, resolve } = Promise.withResolvers<string | null>();
  child.once('error', (error) => resolve(notStarted(error)));
  child.once('close', (code, by) => resolve(code === 0 ? null : `ended with ${by ?? `exit code ${code}`}`));
  const state = await promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    watchdog?.kill('SIGKILL');
  });
  signal.throwIfAborted();
  if (state === null) return;
  const lines = lastLines(tail(), Object.values(named));
  const how = isTooSlow ? `did not end within ${timeoutMs / 1000} s` : state;
  const wrote = lines === '' ? '' : `. The end of its output is "${lines}"`;
  throw badSource(workDir, `its command "${command[0]}" ${how}${wrote}`, isTooSlow ? SLOW_NEXT : FAILED_NEXT);
}

const SLOW_NEXT = 'Raise timeout of the source, or find out what the command waits for.';
const FAILED_NEXT =
  'Run the command in workDir as the user of docshelf, and fix its error. It gets only PATH, HOME, LANG, and environment of the source.';

function startCommand({ workDir, command: [program = '', ...words] }: CommandSettings, env: NodeJS.ProcessEnv) {
  try {
    // A detached process leads a new process group, so that one signal also ends its descendants.
    return spawn(program, words, { cwd: workDir, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    // `spawn` throws an error such as ENOTDIR or ELOOP, but emits ENOENT or EACCES.
    throw badSource(workDir, `its command "${program}" ${notStarted(error)}`, FAILED_NEXT, error);
  }
}

const notStarted = (error: unknown): string => `cannot be started (${errnoOf(error) ?? String(error)})`;

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Ignore the error, because it means that the process group has already ended.
  }
}

/** Starts a process that ends the group of `child` if docshelf is killed, because the system then closes the pipe between them. */
function startWatchdog({ pid }: ChildProcess): ChildProcess | null {
  if (pid === undefined) return null;
  const script = `process.stdin.on('end', () => process.kill(-${pid}, 'SIGKILL')).resume()`;
  const watchdog = spawn(process.execPath, ['-e', script], {
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // If the watchdog cannot start, for example because the process limit is reached, the command runs without it.
  return watchdog.on('error', () => undefined);
}

const TAIL_BYTES = 64 * 1024;
const LINES_MAX = 20;
const LINES_CHARS_MAX = 2_000;
/** Minimum characters of a value that docshelf removes from the output. Shorter values, such as `true`, occur in other words. */
const SECRET_CHARS_MIN = 5;

/** Joins the streams by whole lines, so that a line of one stream cannot split a secret in the other stream. */
function tailOf(streams: readonly (Readable | undefined)[]): () => Buffer {
  let lines: Buffer = Buffer.alloc(0);
  const newest = (...parts: Buffer[]): Buffer => Buffer.concat(parts).subarray(-TAIL_BYTES);
  const rests = streams.map((stream) => {
    let rest: Buffer = Buffer.alloc(0);
    // Node creates no streams if the process has too many open files.
    stream?.on('data', (chunk: Buffer) => {
      const end = chunk.lastIndexOf('\n') + 1;
      if (end > 0) lines = newest(lines, rest, chunk.subarray(0, end));
      rest = end > 0 ? chunk.subarray(end) : newest(rest, chunk);
    });
    return () => rest;
  });
  return () => newest(lines, ...rests.flatMap((rest) => [rest(), Buffer.from('\n')]));
}

/** Last lines of the output, without the values of `environment`. */
function lastLines(tail: Buffer, values: readonly string[]): string {
  const secrets = values.flatMap((value) => value.split(/\r?\n/)).filter(({ length }) => length >= SECRET_CHARS_MIN);
  secrets.sort((a, b) => b.length - a.length);
  let text = stripVTControlCharacters(tail.toString('utf8'));
  // Omit an incomplete first line, because it can begin in the middle of a secret.
  if (tail.length >= TAIL_BYTES) text = text.replace(/^[^\n]*/, '');
  for (const secret of secrets) text = text.replaceAll(secret, '[redacted]');
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  return printableLines(lines.slice(-LINES_MAX).join('\n').slice(-LINES_CHARS_MAX));
}
