import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { Secret } from '../domain/secret.ts';
import type { ConfigFault } from './faults.ts';
import { isLink } from './formats.ts';
import { readText, stateOf } from './read-text.ts';
import type { Values } from './schema/index.ts';
import type { Settings } from './setting.ts';
import { type KeyValues, valueAt } from './values.ts';

/** A presigned link has one to four thousand characters, a key fewer. */
const SECRET_BYTES_MAX = 64 * 1024;
/** What an Authorization header can carry. */
const KEY = /^[\x21-\x7e]{1,4096}$/;

export interface NamedFiles {
  /** The link that `bundleUrlFile` holds, or null where there is no such file. */
  readonly bundleUrl: Secret | null;
  /** The key that `features.search.keyFile` holds, or null. */
  readonly hostedSearchKey: Secret | null;
  /** The key that the `keyFile` of `search.model` holds, or null. */
  readonly searchModelKey: Secret | null;
  /** The minisign secret key that `exportApi.signingKeyFile` holds, or null. */
  readonly signingKey: Secret | null;
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

  const caFiles: (string | null)[] = [];
  for (const key of ['network.caFile', 'exportApi.store.caFile']) {
    const caFile = pathAt(key);
    caFiles.push(caFile);
    if (caFile === null) continue;
    const state = await access(caFile, constants.R_OK).then(() => null, stateOf);
    if (state !== null) tell(key, `Cannot read "${caFile}" for ${key}: ${state}`);
  }

  const model = valueAt(values, 'search.model') as Values['search']['model'];
  if (typeof model === 'string' && model !== 'builtin' && model !== 'off') {
    const state = await folderState(model);
    if (state !== null) tell('search.model', `Cannot use "${model}" as search.model: ${state}`);
  }

  const linkFile = pathAt('staticExport.bundleUrlFile');
  const bundleUrl = await readSecret(linkFile, linkState, (state) => {
    tell('staticExport.bundleUrlFile', `Cannot use "${linkFile}" as staticExport.bundleUrlFile: ${state}`);
  });
  const hostedKeyFile = pathAt('features.search.keyFile');
  const hostedSearchKey = await readSecret(hostedKeyFile, keyState, (state) => {
    tell('features.search.keyFile', `Cannot use "${hostedKeyFile}" as features.search.keyFile: ${state}`);
  });
  const modelKeyFile = typeof model === 'string' ? null : (model.keyFile ?? null);
  const searchModelKey = await readSecret(modelKeyFile, keyState, (state) => {
    tell('search.model', `Cannot use "${modelKeyFile}" as the keyFile of search.model: ${state}`);
  });
  const signingKeyFile = pathAt('exportApi.signingKeyFile');
  const signingKey = await readSecret(
    signingKeyFile,
    () => null,
    (state) => {
      tell('exportApi.signingKeyFile', `Cannot use "${signingKeyFile}" as exportApi.signingKeyFile: ${state}`);
    },
  );
  const files = [...caFiles, linkFile, signingKeyFile, hostedKeyFile, modelKeyFile].filter((file) => file !== null);
  return { bundleUrl, hostedSearchKey, searchModelKey, signingKey, faults, files };
}

function linkState(text: string): string | null {
  return isLink(text) ? null : 'it does not hold an http, https or file URL';
}

function keyState(text: string): string | null {
  return KEY.test(text) ? null : 'it does not hold a key: visible ASCII characters, without spaces';
}

async function folderState(folder: string): Promise<string | null> {
  try {
    return (await stat(folder)).isDirectory() ? null : 'it is no folder';
  } catch (error) {
    return stateOf(error);
  }
}

/** The secret that a file holds, white space around it left out; `stateOfText` says what is wrong with one. */
async function readSecret(
  file: string | null,
  stateOfText: (text: string) => string | null,
  onFault: (state: string) => void,
): Promise<Secret | null> {
  if (file === null) return null;
  try {
    const text = (await readText(file, SECRET_BYTES_MAX)).trim();
    const state = text === '' ? 'it is empty' : stateOfText(text);
    if (state === null) return new Secret(text);
    onFault(state);
  } catch (error) {
    onFault(stateOf(error));
  }
  return null;
}
