import { DOMAIN_PATTERN } from '../domain/deployment.ts';
import { DocshelfError } from '../domain/errors.ts';
import { MANIFEST_PATH, OWN_FOLDER } from '../domain/release.ts';
import { showName } from '../domain/secret.ts';
import type { ShapeOf } from '../domain/shape.ts';
import { VERSION_PATTERN } from '../domain/version.ts';
import type { ArchiveListing, ExtractedFile } from './listing.ts';
import { isSitePage, MANIFEST_FORMAT_VERSION } from './pack/manifest.ts';
import { checkerOf, type DocumentFault, parseJson } from './versioned-json.ts';

/** Of the words at its head. */
const WORDS_BYTES_MAX = 64 * 1024;
/** Of a file besides its path: keys, digest, a type of 255 bytes, and a writer that indents. */
const FILE_BYTES_MAX = 768;
/** Of a name: `\u00e9` for two bytes. */
const BYTES_PER_NAME_BYTE_MAX = 6;
const NAMED_DIFFERENCES_MAX = 5;

const MANIFEST_FILE = {
  type: 'object',
  required: ['path', 'size', 'sha256', 'type'],
  properties: {
    path: { type: 'string', minLength: 1, maxLength: 4096 },
    size: { type: 'integer', minimum: 0 },
    sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    /** A media type; it becomes a header, so nothing but visible ASCII and spaces. */
    type: { type: 'string', pattern: '^[!-~]+/[!-~]+(?: [!-~]+)*$', maxLength: 255 },
  },
} as const;

/** `_docshelf/manifest.json`. Other keys are ignored: a later writer may add some. */
const MANIFEST = {
  type: 'object',
  required: ['formatVersion', 'domain', 'version', 'createdAt', 'generator', 'pageCount', 'files'],
  properties: {
    formatVersion: { const: MANIFEST_FORMAT_VERSION },
    domain: { type: 'string', pattern: DOMAIN_PATTERN.source },
    /** Null where the export was given none; it contradicts no label then. */
    version: { anyOf: [{ type: 'string', pattern: VERSION_PATTERN.source }, { type: 'null' }] },
    createdAt: { type: 'string', format: 'date-time' },
    generator: { type: 'string', minLength: 1, maxLength: 200 },
    /** Pages, 404 pages among them. */
    pageCount: { type: 'integer', minimum: 0 },
    /** Every file of the site, and of `_docshelf/` all but the manifest itself. */
    files: { type: 'array', items: MANIFEST_FILE },
  },
} as const;

export type BundleManifest = ShapeOf<typeof MANIFEST>;

const checkShape = checkerOf<BundleManifest>(MANIFEST);

/** Before anything of it is read: what an archive lists bounds what its manifest may have. @throws DocshelfError `bad_manifest` */
export function checkManifestSize({ entries, ownRoot }: ArchiveListing, name: string): void {
  const size = entries.find((entry) => entry.name === ownRoot + MANIFEST_PATH.slice(OWN_FOLDER.length))?.size ?? 0;
  let bytesMax = WORDS_BYTES_MAX;
  for (const entry of entries) bytesMax += FILE_BYTES_MAX + BYTES_PER_NAME_BYTE_MAX * Buffer.byteLength(entry.name);
  if (size > bytesMax)
    throw faultsOf(name)(`it has ${size} bytes, and one of these files has no more than ${bytesMax}`);
}

/** @throws DocshelfError `bad_manifest`, which calls the bundle `name` */
export function parseManifest(bytes: Uint8Array, name: string): BundleManifest {
  const bad = faultsOf(name);
  const manifest = checkShape(parseJson(bytes, bad), bad);
  if (new Set(manifest.files.map(({ path }) => path)).size !== manifest.files.length)
    throw bad('it lists a file twice');
  return manifest;
}

function faultsOf(name: string): DocumentFault {
  return (state, { cause, isNewer = false } = {}) =>
    new DocshelfError('bad_manifest', `Cannot read the manifest of "${showName(name)}": ${state}`, {
      next: isNewer ? 'Install the docshelf that wrote the bundle, or a later one.' : 'Generate the bundle again.',
      cause,
    });
}

/** Compares files (the manifest aside), sizes, digests and pages. @throws DocshelfError `manifest_mismatch` */
export function checkManifest(manifest: BundleManifest, extracted: readonly ExtractedFile[], name: string): void {
  const listed = new Map(manifest.files.map((file) => [file.path, file]));
  const differences: string[] = [];
  for (const file of extracted) {
    if (file.path === MANIFEST_PATH) continue;
    const expected = listed.get(file.path);
    listed.delete(file.path);
    const path = showName(file.path);
    if (expected === undefined) differences.push(`"${path}" is not listed`);
    else if (expected.size !== file.size) {
      differences.push(`"${path}" has ${file.size} bytes, not ${expected.size}`);
    } else if (expected.sha256 !== file.sha256) differences.push(`"${path}" has other content`);
  }
  for (const path of listed.keys()) differences.push(`"${showName(path)}" is missing`);
  const pages = extracted.filter(isSitePage).length;
  if (pages !== manifest.pageCount) differences.push(`it has ${pages} pages, not ${manifest.pageCount}`);
  if (differences.length === 0) return;

  const named = differences.slice(0, NAMED_DIFFERENCES_MAX).join('; ');
  const more = differences.length - NAMED_DIFFERENCES_MAX;
  throw new DocshelfError(
    'manifest_mismatch',
    `Cannot unpack "${showName(name)}": it is not what its manifest says: ${named}${more > 0 ? `; and ${more} more` : ''}`,
    {
      next: 'The bundle was changed after it was written: fetch it again, or generate it again.',
      fields: { differences: differences.length },
    },
  );
}
