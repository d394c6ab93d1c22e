import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { Secret } from '../domain/secret.ts';
import type { ConfigFault } from './faults.ts';
import { isLink } from './formats.ts';
import { readText, stateOf } from './read-text.ts';
import type { Settings } from './setting.ts';
import { type KeyValues, valueAt } from './values.ts';

/** A presigned link has one to four thousand characters. */
const LINK_BYTES_MAX = 64 * 1024;

export interface NamedFiles {
  /** The link that `bundleUrlFile` holds, or null where there is no such file. */
  readonly bundleUrl: Secret | null;
  readonly faults: readonly ConfigFault[];
  /** Absolute paths of the files, whether they are there or not: a watcher sees the missing one arrive. */
  readonly files: readonly string[];
}

/** Looks at the files and folders that the config names: what is named and is not there is a fault of the config. */
export async function readNamedFiles(settings: Settings, values: KeyValues): Promise<NamedFiles> {
  const faults: ConfigFault[] = [];
  const tell = (key: string, message: string): void => {
    faults.push({ code: 'config_invalid', message, key, where: settings.get(key)?.where ?? null });
  };
  const pathAt = (key: string): string | null => valueAt(values, key) as string | null;

  // The default preload folder may be missing; one that somebody named is there, or nothing would ever be taken in.
  const preload = settings.get('staticExport.preload') === undefined ? null : pathAt('staticExport.preload');
  if (preload !== null) {
    const state = await folderState(preload);
    if (state !== null) tell('staticExport.preload', `Cannot use "${preload}" as staticExport.preload: ${state}`);
  }

  const caFile = pathAt('network.caFile');
  if (caFile !== null) {
    const state = await access(caFile, constants.R_OK).then(() => null, stateOf);
    if (state !== null) tell('network.caFile', `Cannot read "${caFile}" for network.caFile: ${state}`);
  }

  const linkFile = pathAt('staticExport.bundleUrlFile');
  const bundleUrl =
    linkFile === null
      ? null
      : await readLink(linkFile, (state) => {
          tell('staticExport.bundleUrlFile', `Cannot use "${linkFile}" as staticExport.bundleUrlFile: ${state}`);
        });
  return { bundleUrl, faults, files: [caFile, linkFile].filter((file) => file !== null) };
}

async function folderState(folder: string): Promise<string | null> {
  try {
    return (await stat(folder)).isDirectory() ? null : 'it is no folder';
  } catch (error) {
    return stateOf(error);
  }
}

async function readLink(file: string, onFault: (state: string) => void): Promise<Secret | null> {
  try {
    const link = (await readText(file, LINK_BYTES_MAX)).trim();
    if (link === '') onFault('it is empty');
    else if (!isLink(link)) onFault('it does not hold an http, https or file URL');
    else return new Secret(link);
  } catch (error) {
    onFault(stateOf(error));
  }
  return null;
}
