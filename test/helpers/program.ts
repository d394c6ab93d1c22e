import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const PROGRAM = join(import.meta.dirname, '../../dist/main.js');
const COMMAND_MS_MAX = 120_000;

export type Env = Readonly<Record<string, string>>;

export interface RunBy {
  /** Program to run. Default: the build of this checkout. */
  readonly program?: string;
  /** User and group of the process, which only root can set. Default: the user of the test. */
  readonly uid?: number;
}

export interface RunOptions extends RunBy {
  /** Working directory. Default: the temporary folder. */
  readonly cwd?: string;
  readonly env?: Env;
  /** Standard input. Default: closed at once. */
  readonly input?: Uint8Array;
}

export interface CommandResult {
  /** Null if a signal ended the command. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  json<T = Record<string, unknown>>(): T;
}

/** Runs one command to its end. */
export async function runDocshelf(args: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
  const child = spawnProgram(args, options.cwd ?? tmpdir(), options.env ?? {}, options);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', (chunk: Buffer) => {
      output[name] += chunk.toString();
    });
  }
  // A command may end without reading its input.
  child.stdin?.on('error', () => undefined).end(options.input ?? '');
  const timer = setTimeout(() => child.kill('SIGKILL'), COMMAND_MS_MAX);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return { code, ...output, json: <T>() => parseOutput(output) as T };
}

/** Exit code and error code of a failed command with `--json`. */
export const codesOf = ({ code, json }: CommandResult) => [code, json<{ readonly code: string }>().code];

/** Exit code and problem of a failed command with `--json`. */
export function faultOf({ code: exit, json }: CommandResult) {
  return { exit, ...json<{ readonly code: string; readonly error: string; readonly next: string | null }>() };
}

function parseOutput({ stdout, stderr }: { stdout: string; stderr: string }): unknown {
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`the output is no JSON: ${stdout}\n${stderr}`);
  }
}

/** Starts the program. The caller must end it. */
export function spawnProgram(
  args: readonly string[],
  cwd: string,
  env: Env,
  { program = PROGRAM, uid }: RunBy = {},
): ChildProcess {
  if (!existsSync(program)) throw new Error(`${program} is not there: build first (npm run build)`);
  // Pass only necessary variables, so that DOCSHELF variables of the shell do not change a test.
  const { PATH, HOME, TMPDIR } = process.env;
  const base = Object.fromEntries(Object.entries({ PATH, HOME, TMPDIR }).filter(([, value]) => value !== undefined));
  const user = uid === undefined ? {} : { uid, gid: uid };
  return spawn(process.execPath, [program, ...args], { cwd, env: { ...base, ...env } as NodeJS.ProcessEnv, ...user });
}
