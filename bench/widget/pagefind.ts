import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readFolder } from '../../test/helpers/read-archive.ts';

/** Installed for the benchmark alone (bench/widget/package.json). */
const PROGRAM = join(import.meta.dirname, 'node_modules/.bin/pagefind');

/** A site with Pagefind's index and scripts in `pagefind/`. @param work an empty folder, used up */
export async function withPagefind(
  site: ReadonlyMap<string, Uint8Array>,
  work: string,
): Promise<ReadonlyMap<string, Uint8Array>> {
  for (const [path, bytes] of site) {
    await mkdir(dirname(join(work, path)), { recursive: true });
    await writeFile(join(work, path), bytes);
  }
  execFileSync(PROGRAM, ['--site', work], { stdio: ['ignore', 'ignore', 'inherit'] });
  return readFolder(work);
}
