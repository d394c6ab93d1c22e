import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROGRAM } from './program.ts';

const SHELL_MS_MAX = 240_000;

/** Writes programs into `bin` of a folder: the built docshelf, and these scripts by name. */
export function writePrograms(folder: string, scripts: Readonly<Record<string, string>> = {}): void {
  const docshelf = `exec "${process.execPath}" "${PROGRAM}" "$@"`;
  mkdirSync(join(folder, 'bin'), { recursive: true });
  for (const [name, script] of Object.entries({ docshelf, ...scripts })) {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
}

interface ShellOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Receives a function that ends the programs that the commands leave running. Without it, they end with the shell. */
  readonly onEnd?: (end: () => void) => void;
}

interface ShellResult {
  /** Null if a signal ended the shell. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs commands in bash, which stops at the first failure. @param folder working folder and home, with programs in `bin` */
export async function runShell(
  commands: string,
  folder: string,
  { cwd = folder, env = {}, onEnd }: ShellOptions = {},
): Promise<ShellResult> {
  const outputs = await mkdtemp(join(tmpdir(), 'docshelf-shell-'));
  const [out, err] = [join(outputs, 'out'), join(outputs, 'err')];
  try {
    // A program that keeps running would keep a pipe open.
    await using stdout = await open(out, 'w');
    await using stderr = await open(err, 'w');
    const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', commands], {
      cwd,
      env: { HOME: folder, PATH: `${join(folder, 'bin')}:${process.env.PATH}`, ...env },
      detached: true,
      stdio: ['ignore', stdout.fd, stderr.fd],
    });
    const end = (): void => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        // The whole group has ended.
      }
    };
    const timer = setTimeout(end, SHELL_MS_MAX);
    const code = await new Promise<number | null>((resolve, reject) =>
      child.once('exit', resolve).once('error', reject),
    );
    clearTimeout(timer);
    if (onEnd === undefined) end();
    else onEnd(end);
    return { code, stdout: await readFile(out, 'utf8'), stderr: await readFile(err, 'utf8') };
  } finally {
    await rm(outputs, { recursive: true });
  }
}

/** @throws Error with the output if a command fails */
export async function runCommands(commands: string, folder: string, options: ShellOptions = {}): Promise<ShellResult> {
  const result = await runShell(commands, folder, options);
  const { code, stdout, stderr } = result;
  if (code !== 0) throw new Error(`ended with ${code}:\n${commands}\n${stdout}${stderr}`);
  return result;
}
