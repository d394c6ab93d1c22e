/** Real processes, and the files that they leave when they are killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs TypeScript in a separate process until it prints a line, which is returned. @param body body of an async function of
 * `deploy`, which imports a file of the deploy room
 */
export async function runInProcess(body: string): Promise<{ line: string; kill(): Promise<void> }> {
  const room = new URL('../../src/deploy/', import.meta.url);
  const program = `
    const deploy = (file) => import(${JSON.stringify(room.href)} + file);
    const say = (line) => process.stdout.write(line + '\\n');
    setInterval(() => {}, 60_000);
    ${body}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return { line: chunk.toString().trim(), kill: () => killHard(child) };
}

/** Sends SIGKILL, and waits for the end of the process. */
async function killHard(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
