import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { Secret } from '../domain/secret.ts';
import type { ConfigFault } from './faults.ts';
import { isBundleLink } from './formats.ts';
import { readText, stateOf } from './read-text.ts';
import type { Values } from './schema/index.ts';
import type { Settings } from './setting.ts';
import { type KeyValues, valueAt } from './values.ts';

/** A presigned link has one to four thousand characters, a key fewer, a signature with its comments up to ten thousand. */
const CONTENT_BYTES_MAX = 64 * 1024;
/** What an Authorization header can carry. */
const KEY = /^[\x21-\x7e]{1,4096}$/;
/** A key of minisign: 42 bytes in base64, of which the first two name Ed25519. */
const PUBLIC_KEY = /^RW[A-Za-z0-9+/]{54}$/;

export interface NamedFiles {
  /** The link that `bundleUrlFile` holds, or null where there is no such file. */
  readonly bundleUrl: Secret | null;
  /** The minisign public keys of `staticExport.signature.publicKeys`. */
  readonly publicKeys: readonly string[];
  /** The signature that `staticExport.signature.file` holds, or null. */
  readonly signature: string | null;
  /** The key that `features.search.keyFile` holds, or null. */
  readonly hostedSearchKey: Secret | null;
  /** The key that the `keyFile` of `search.model` holds, or null. */
  readonly searchModelKey: Secret | null;
  /** The minisign secret key that `exportApi.signingKeyFile` holds, or null. */
  readonly signingKey: Secret | null;
  /** The key that `staticExport.renew.keyFile` holds, or null. */
  readonly renewKey: Secret | null;
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

  const readable: (string | null)[] = [];
  for (const key of ['network.caFile', 'network.registryAuthFile', 'exportApi.store.caFile']) {
    const file = pathAt(key);
    readable.push(file);
    if (file === null) continue;
    const state = await access(file, constants.R_OK).then(() => null, stateOf);
    if (state !== null) tell(key, `Cannot read "${file}" for ${key}: ${state}`);
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
  const publicKeys: string[] = [];
  const namedKeys = valueAt(values, 'staticExport.signature.publicKeys') as string[];
  const publicKeyFiles = namedKeys.filter((key) => !PUBLIC_KEY.test(key));
  for (const key of namedKeys) {
    const text = PUBLIC_KEY.test(key)
      ? key
      : await readContent(key, publicKeyState, (state) => {
          const where = 'staticExport.signature.publicKeys';
          tell(where, `Cannot use "${key}" in ${where}: ${state}`);
        });
    if (text !== null) publicKeys.push(text);
  }
  const signatureFile = pathAt('staticExport.signature.file');
  const signature = await readContent(
    signatureFile,
    () => null,
    (state) => {
      tell('staticExport.signature.file', `Cannot use "${signatureFile}" as staticExport.signature.file: ${state}`);
    },
  );
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
  const renewKeyFile = pathAt('staticExport.renew.keyFile');
  const renewKey = await readSecret(renewKeyFile, keyState, (state) => {
    tell('staticExport.renew.keyFile', `Cannot use "${renewKeyFile}" as staticExport.renew.keyFile: ${state}`);
  });
  const named = [
    ...readable,
    linkFile,
    renewKeyFile,
    ...publicKeyFiles,
    signatureFile,
    signingKeyFile,
    hostedKeyFile,
    modelKeyFile,
  ];
  const files = named.filter((file) => file !== null);
  return { bundleUrl, publicKeys, signature, hostedSearchKey, searchModelKey, signingKey, renewKey, faults, files };
}

function linkState(text: string): string | null {
  return isBundleLink(text) ? null : 'it does not hold an http, https, file or oci URL';
}

function publicKeyState(text: string): string | null {
  return PUBLIC_KEY.test(text.split(/\r?\n/).at(-1) ?? '') ? null : 'it does not hold a minisign public key';
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

/** The secret that a file holds. */
async function readSecret(...args: Parameters<typeof readContent>): Promise<Secret | null> {
  const text = await readContent(...args);
  return text === null ? null : new Secret(text);
}

/** What a file holds, white space around it left out; `stateOfText` says what is wrong with it. */
async function readContent(
  file: string | null,
  stateOfText: (text: string) => string | null,
  onFault: (state: string) => void,
): Promise<string | null> {
  if (file === null) return null;
  try {
    const text = (await readText(file, CONTENT_BYTES_MAX)).trim();
    const state = text === '' ? 'it is empty' : stateOfText(text);
    if (state === null) return text;
    onFault(state);
  } catch (error) {
    onFault(stateOf(error));
  }
  return null;
}
