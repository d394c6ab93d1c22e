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
 * @returns the printed object; where the command fails, the problem with its `code`
 */
export async function importBundle(
  bench: Bench,
  folder: string,
  archive: string,
  args: readonly string[] = [],
): Promise<Record<string, unknown>> {
  const result = await bench.run(['bundle', 'import', archive, '--config', 'config.yaml', '--json', ...args], {
    cwd: folder,
  });
  return result.json();
}
