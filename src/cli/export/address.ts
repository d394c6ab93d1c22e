import type { ServiceAddress } from '../../app/export-client.ts';
import type { Config } from '../../config/index.ts';
import { readText } from '../../config/read-config-file.ts';
import { DocshelfError, rethrowAs } from '../../domain/errors.ts';
import { Secret } from '../../domain/secret.ts';

export interface AddressOptions {
  readonly apiUrl?: string;
  readonly keyFile?: string;
}

export const KEY_VARIABLE = 'DOCSHELF_API_KEY';

/** Bounded by what an Authorization header can carry. */
const KEY = /^[\x21-\x7e]{1,4096}$/;
const KEY_FILE_BYTES_MAX = 64 * 1024;

/**
 * Address and key of the service: the command line's, the environment's, or those of `staticExport.renew`, whose key is
 * sent to the config's service alone.
 * @throws DocshelfError `usage` where no address is said, `unauthorized` where no key is, `cannot_read`
 */
export async function serviceAddress(
  { apiUrl, keyFile }: AddressOptions,
  config: Config,
  environment: NodeJS.ProcessEnv,
): Promise<ServiceAddress> {
  const { renew } = config.staticExport;
  const url = apiUrl ?? renew.apiUrl;
  if (url === null) {
    throw new DocshelfError('usage', 'Cannot ask an export service: nothing says where it is', {
      next: 'Name it with --api-url https://api.example.com, or set staticExport.renew.apiUrl in the config.',
    });
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new DocshelfError('usage', 'Cannot use --api-url: it is no http or https URL', {
      next: 'Write it as https://api.example.com; /v1/static-export is put behind it.',
    });
  }
  if (keyFile !== undefined) return { apiUrl: url, key: await keyIn(keyFile) };
  const given = environment[KEY_VARIABLE]?.trim() ?? '';
  if (given !== '') return { apiUrl: url, key: keyOf(given, `the environment variable ${KEY_VARIABLE}`) };
  if (renew.keyFile !== null && apiUrl === undefined) return { apiUrl: url, key: renew.keyFile.text };
  throw new DocshelfError('unauthorized', `Cannot ask ${new URL(url).origin}: no key is given`, {
    next: `Name a file that holds the admin key with --key-file, or put the key into ${KEY_VARIABLE}.`,
  });
}

async function keyIn(file: string): Promise<Secret> {
  const next = 'Name the file that holds the admin key with --key-file.';
  const text = await readText(file, KEY_FILE_BYTES_MAX).catch(
    rethrowAs('cannot_read', `read the key file "${file}"`, next),
  );
  return keyOf(text.trim(), `"${file}"`);
}

function keyOf(text: string, place: string): Secret {
  if (KEY.test(text)) return new Secret(text);
  throw new DocshelfError('unauthorized', `Cannot use the key of ${place}: it is no key`, {
    next: 'A key is one line of visible ASCII characters, without spaces.',
  });
}
