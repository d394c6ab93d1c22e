import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The built program. */
export const PROGRAM = join(import.meta.dirname, '../../dist/main.js');
const COMMAND_MS_MAX = 120_000;

export type Env = Readonly<Record<string, string>>;

export interface RunOptions {
  /** Where the command runs; the folder of temporary files unless told. */
  readonly cwd?: string;
  readonly env?: Env;
  /** Standard input; closed at once unless told. */
  readonly input?: Uint8Array;
  /** Another build; the one of this checkout unless told. */
  readonly program?: string;
}

export interface CommandResult {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output, parsed. */
  json<T = Record<string, unknown>>(): T;
}

/** One command to its end. */
export async function runDocshelf(args: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
  const child = spawnProgram(args, options.cwd ?? tmpdir(), options.env ?? {}, options.program);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', (chunk: Buffer) => {
      output[name] += chunk.toString();
    });
  }
  // A command that ends without reading its input is no fault of the test.
  child.stdin?.on('error', () => undefined).end(options.input ?? '');
  const timer = setTimeout(() => child.kill('SIGKILL'), COMMAND_MS_MAX);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return { code, ...output, json: <T>() => parseOutput(output) as T };
}

function parseOutput({ stdout, stderr }: { stdout: string; stderr: string }): unknown {
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`the output is no JSON: ${stdout}\n${stderr}`);
  }
}

/** Starts the program; whoever starts it ends it. */
export function spawnProgram(args: readonly string[], cwd: string, env: Env, program = PROGRAM): ChildProcess {
  if (!existsSync(program)) throw new Error(`${program} is not there: build first (npm run build)`);
  // Only what a program needs: a DOCSHELF variable of the person who runs the tests must not decide them.
  const { PATH, HOME, TMPDIR } = process.env;
  const base = Object.fromEntries(Object.entries({ PATH, HOME, TMPDIR }).filter(([, value]) => value !== undefined));
  return spawn(process.execPath, [program, ...args], { cwd, env: { ...base, ...env } as NodeJS.ProcessEnv });
}
