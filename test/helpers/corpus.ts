import { join } from 'node:path';
import type { Bench, ConfigFile } from './daemon.ts';

/** Folder of real bundles, from DOCSHELF_CORPUS. They are not part of the project. */
export const corpus: string | undefined = process.env.DOCSHELF_CORPUS;

/** Suffix for the name of a skipped suite. */
export const whyNoCorpus = corpus === undefined ? ' (skipped: DOCSHELF_CORPUS does not say where the corpus is)' : '';

export function bundleFile(name: string): string {
  return join(corpus ?? '.', 'bundles', name);
}

/** Creates a folder with a config, for `bench.start(null, { folder })` and for commands. */
export async function newHome(bench: Bench, config: ConfigFile = {}): Promise<string> {
  const folder = await bench.folder();
  await bench.writeConfig(folder, { log: { access: false }, ...config });
  return folder;
}

/** Runs `docshelf bundle import`. @throws Error with the `code` of the printed problem if the command fails */
export async function importBundle(
  bench: Bench,
  folder: string,
  archive: string,
  args: readonly string[] = [],
): Promise<{ readonly version: string; readonly digest: string }> {
  const command = ['bundle', 'import', archive, '--config', 'config.yaml', '--json', ...args];
  const result = await bench.run(command, { cwd: folder });
  if (result.code === 0) return result.json();
  const { code } = result.json<{ code: string }>();
  throw Object.assign(new Error(`the import ended with ${result.code}: ${result.stdout}${result.stderr}`), { code });
}
