import { DocshelfError } from '../../domain/errors.ts';
import { isVersion } from '../../domain/version.ts';

export interface UploadRequest {
  readonly fileName: string;
  readonly version: string | null;
  readonly activate: boolean;
}

const PARAMETERS = new Set(['version', 'activate']);
/** What file systems hold, so that the name can be shown and stored as it is. */
const FILE_NAME_BYTES_MAX = 255;

/** @throws DocshelfError `bad_request`, naming the field. */
export function parseUpload(fileName: string, query: URLSearchParams): UploadRequest {
  const isPlain = /^[^/\\\x00-\x1f\x7f-\x9f]+$/.test(fileName) && fileName !== '.' && fileName !== '..';
  if (!isPlain || Buffer.byteLength(fileName) > FILE_NAME_BYTES_MAX) {
    throw badField('fileName', `it is not a plain file name of at most ${FILE_NAME_BYTES_MAX} bytes`);
  }
  for (const name of query.keys()) {
    if (!PARAMETERS.has(name)) throw badField(name, 'there is no such parameter: version and activate are known');
    if (query.getAll(name).length > 1) throw badField(name, 'it is given more than once');
  }
  const version = query.get('version');
  const activate = query.get('activate') ?? 'true';
  if (activate !== 'true' && activate !== 'false') throw badField('activate', 'it is neither true nor false');
  return { fileName, version: version === null ? null : versionField(version), activate: activate === 'true' };
}

/** @throws DocshelfError `bad_request` where the text is no version label. */
export function versionField(text: string): string {
  if (isVersion(text)) return text;
  throw badField(
    'version',
    'it is not 1 to 128 letters, digits, ".", "_", "+" or "-", beginning with a letter or digit',
  );
}

function badField(name: string, state: string): DocshelfError {
  return new DocshelfError('bad_request', `Cannot read "${name.slice(0, 64)}": ${state}`, { fields: { field: name } });
}
