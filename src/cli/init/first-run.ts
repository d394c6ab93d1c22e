import { createInterface } from 'node:readline/promises';
import type { LoadedConfig } from '../../config/index.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { initConfig } from './index.ts';

/**
 * A daemon that nobody configured would serve nothing, and say so to nobody. On a terminal it is asked whether to write a
 * config now; elsewhere the start is refused.
 *
 * @returns whether a config was written
 * @throws DocshelfError `config_invalid`
 */
export async function offerInit(loaded: LoadedConfig): Promise<boolean> {
  const isConfigured = loaded.file !== null || [...loaded.origins.values()].some((origin) => origin !== 'default');
  if (isConfigured) return false;
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) throw nothingConfigured();
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal
    .question('There is no config.yaml here. Write one now? [Y/n] ')
    .finally(() => terminal.close());
  if (/^n/i.test(answer.trim())) throw nothingConfigured();
  await initConfig({});
  return true;
}

function nothingConfigured(): DocshelfError {
  return new DocshelfError(
    'config_invalid',
    'Cannot serve: there is no ./config.yaml, DOCSHELF_CONFIG names none, and no DOCSHELF__… variable is set',
    { next: '"docshelf init" writes a config; "docshelf serve --config FILE" takes one from elsewhere.' },
  );
}
