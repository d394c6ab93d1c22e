import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Bench } from '../helpers/daemon.ts';

/** A folder whose `data` is a small volume, which only root can mount. */
export async function smallVolume(bench: Bench, bytes: number): Promise<string> {
  const folder = await bench.folder();
  const data = join(folder, 'data');
  execFileSync('mkdir', [data]);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', data]);
  bench.onEnd(() => execFileSync('umount', ['--lazy', data]));
  return folder;
}

const reason = whyNot();
export const skipped = reason !== null;
/** Suffix for the name of a skipped suite. */
export const whySkipped = reason === null ? '' : ` (skipped: ${reason})`;

function whyNot(): string | null {
  if (process.getuid?.() !== 0) return 'only root can mount a small volume';
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'this machine lets nobody mount';
  }
}
