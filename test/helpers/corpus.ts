import { join } from 'node:path';
import type { Bench, ConfigFile } from './daemon.ts';

/** Real bundles of others, outside the project. Nothing here knows where they are: DOCSHELF_CORPUS says it. */
export const corpus: string | undefined = process.env.DOCSHELF_CORPUS;

/** For the name of a suite that is skipped without them. */
export const whyNoCorpus = corpus === undefined ? ' (skipped: DOCSHELF_CORPUS does not say where the corpus is)' : '';

export function bundleFile(name: string): string {
  return join(corpus ?? '.', 'bundles', name);
}

/** A new folder with a config in it, for `bench.start(null, { folder })` and for commands. */
export async function newHome(bench: Bench, config: ConfigFile = {}): Promise<string> {
  const folder = await bench.folder();
  await bench.writeConfig(folder, { log: { access: false }, ...config });
  return folder;
}

/**
 * `docshelf bundle import` on a home.
 *
 * @throws where the command fails, the error with the `code` of the problem that it printed
 */
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
