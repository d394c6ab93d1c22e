import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { DocshelfError } from '../../domain/errors.ts';

/** Names under which distributions install it. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * The system's browser: what DOCSHELF_CHROMIUM names, else the first of Chromium's usual names on PATH.
 *
 * @throws DocshelfError `browser_missing`
 */
export function findChromium(env: NodeJS.ProcessEnv): string {
  const named = env.DOCSHELF_CHROMIUM;
  if (named !== undefined && named !== '') {
    if (isAbsolute(named) && isExecutable(named)) return named;
    throw missing(
      `"${named}"`,
      'DOCSHELF_CHROMIUM names no program that may be run',
      'Set DOCSHELF_CHROMIUM to the absolute path of a Chromium, or unset it.',
    );
  }
  const folders = (env.PATH ?? '').split(delimiter).filter(isAbsolute);
  for (const name of NAMES) {
    for (const folder of folders) {
      const path = join(folder, name);
      if (isExecutable(path)) return path;
    }
  }
  throw missing(
    'Chromium',
    'it is not installed',
    'Install the package chromium, or set DOCSHELF_CHROMIUM to the path of one.',
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function missing(thing: string, state: string, next: string): DocshelfError {
  return new DocshelfError('browser_missing', `Cannot start ${thing}: ${state}`, { next });
}
