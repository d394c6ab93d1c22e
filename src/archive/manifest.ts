import { DOMAIN_PATTERN } from '../domain/deployment.ts';
import { DocshelfError } from '../domain/errors.ts';
import { type FileEntry, isPage, MANIFEST_PATH, OWN_FOLDER } from '../domain/release.ts';
import { showName } from '../domain/secret.ts';
import { objectOf, type ShapeOf } from '../domain/shape.ts';
import { counted } from '../domain/text.ts';
import { VERSION_PATTERN } from '../domain/version.ts';
import { isByProduct, nameAt, placeOf } from './layout.ts';
import type { ArchiveListing, ExtractedFiles } from './listing.ts';
import { checkerOf, type DocumentFault, parseJson } from './versioned-json.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const ESCAPE = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const FILES_KEY = Buffer.from('"files":');

const LITERAL = /[\w.+-]/;
const isOfLiteral = (byte = 0): boolean => LITERAL.test(String.fromCharCode(byte));

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

const MANIFEST_FORMAT_VERSION = 1;

export interface ManifestFacts {
  readonly domain: string;
  readonly version: string | null;
  readonly createdAt: string;
  readonly generator: string;
}

/** Returns the same bytes for any order of `files`, which must not contain the manifest itself. */
export function encodeManifest(words: ManifestFacts, files: readonly FileEntry[]): Buffer {
  const { domain, version, createdAt, generator } = words;
  const listed = files
    .map(({ path, size, sha256, type }) => ({ path, size, sha256, type }))
    .sort((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path)));
  const pageCount = listed.filter(isSitePage).length;
  const formatVersion = MANIFEST_FORMAT_VERSION;
  const manifest = { formatVersion, domain, version, createdAt, generator, pageCount, files: listed };
  return Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
}

const isSitePage = ({ path }: { readonly path: string }): boolean => !path.startsWith(OWN_FOLDER) && isPage(path);

const HEAD_BYTES_MAX = 64 * 1024;
/** Maximum bytes of the JSON object that describes a file, without the path: keys, digest, a type of 255 bytes, indentation. */
const FILE_BYTES_MAX = 768;
/** JSON can write one byte of a name as six bytes, such as `\u0061` for `a`. */
const BYTES_PER_NAME_BYTE_MAX = 6;
const NAME_BYTES_MAX = 4096;
const FILE_ENTRY_BYTES_MAX = FILE_BYTES_MAX + BYTES_PER_NAME_BYTE_MAX * NAME_BYTES_MAX;
const NAMED_DIFFERENCES_MAX = 5;
const TYPES_MAX = 1000;
const DIGEST_BYTES = 32;

const MANIFEST_FILE = objectOf({
  path: { type: 'string', minLength: 1, maxLength: NAME_BYTES_MAX },
  size: { type: 'integer', minimum: 0 },
  sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  /** A media type becomes the value of a response header, so it has only visible ASCII and spaces. */
  type: { type: 'string', pattern: '^[!-~]+/[!-~]+(?: [!-~]+)*$', maxLength: 255 },
});

/** Schema of `_docshelf/manifest.json`. docshelf ignores unknown keys, because a later version may add keys. */
const MANIFEST = objectOf({
  formatVersion: { const: MANIFEST_FORMAT_VERSION },
  domain: { type: 'string', pattern: DOMAIN_PATTERN.source },
  /** Version label. Null for an export without a version, which can be imported with any version label. */
  version: { anyOf: [{ type: 'string', pattern: VERSION_PATTERN.source }, { type: 'null' }] },
  createdAt: { type: 'string', format: 'date-time' },
  generator: { type: 'string', minLength: 1, maxLength: 200 },
  pageCount: { type: 'integer', minimum: 0 },
  /**
   * All files except the manifest. Empty in the schema check, because `ManifestReader` takes each file out and checks it
   * separately.
   */
  files: { type: 'array', maxItems: 0 },
});

export type ManifestFile = ShapeOf<typeof MANIFEST_FILE>;
export type ManifestHead = Omit<ShapeOf<typeof MANIFEST>, 'files'>;

const checkHead = checkerOf<ManifestHead>(MANIFEST);
const checkFile = checkerOf<ManifestFile>(MANIFEST_FILE);

/**
 * Limits the size of the manifest by the number and length of all entry names. Call this before reading the manifest.
 * @throws DocshelfError `bad_manifest`
 */
export function checkManifestSize(listing: ArchiveListing, name: string): void {
  const { entries } = listing;
  const index = manifestIndex(listing);
  const size = index < 0 ? 0 : entries.at(index).size;
  let bytesMax = HEAD_BYTES_MAX;
  for (const entry of entries) bytesMax += FILE_BYTES_MAX + BYTES_PER_NAME_BYTE_MAX * Buffer.byteLength(entry.name);
  if (size > bytesMax)
    throw faultsOf(name)(`it has ${size} bytes, and the limit for this number of files is ${bytesMax}`);
}

/** @returns the index of the manifest's entry, or -1. Ignores a file of the site with the same name. */
function manifestIndex(listing: ArchiveListing): number {
  const path = MANIFEST_PATH.slice(OWN_FOLDER.length);
  const index = listing.ownRoot === '' ? -1 : listing.entries.indexOf(nameAt({ place: 'own', path }, listing));
  return index >= 0 && listing.entries.isFile(index) ? index : -1;
}

/**
 * Parser state. `head`: outside `files`. `first`: before the first file. `next`: after a comma. `behind`: after a file. `file`:
 * in a file.
 */
type State = 'head' | 'first' | 'next' | 'behind' | 'file';

/**
 * Splits a manifest into its head (all except `files`) and single files, so that only one file is in memory at a time.
 * @throws DocshelfError `bad_manifest`
 */
export class ManifestReader {
  readonly #bad: DocumentFault;
  readonly #onFile: (file: ManifestFile) => void;
  readonly #head = Buffer.alloc(HEAD_BYTES_MAX);
  #headBytes = 0;
  #isBehindBlank = false;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #state: State = 'head';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasFiles = false;
  #files = 0;
  #fault: unknown = null;

  /**
   * @param name file name of the bundle in error messages
   * @param onFile callback for each file. If it throws an error, `end` throws the same error, unless the rest of the manifest is
   * invalid or has a newer format
   */
  constructor(name: string, onFile: (file: ManifestFile) => void) {
    this.#bad = faultsOf(name);
    this.#onFile = onFile;
  }

  push(chunk: Buffer): void {
    let begin = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (this.#state === 'head') this.#takeOfHead(byte);
      else if (this.#state !== 'file') {
        this.#takeBetween(byte);
        begin = at;
      } else {
        this.#follow(byte);
        if (this.#depth > 1) continue;
        this.#hold(chunk.subarray(begin, at + 1));
        this.#takeFile(Buffer.concat(this.#held));
        this.#held = [];
        this.#heldBytes = 0;
        this.#state = 'behind';
      }
    }
    if (this.#state === 'file') this.#hold(chunk.subarray(begin));
  }

  end(): ManifestHead {
    if (this.#state !== 'head') throw this.#bad('it is cut off');
    const head = checkHead(parseJson(this.#head.subarray(0, this.#headBytes), this.#bad), this.#bad);
    if (this.#fault !== null) throw this.#fault;
    return head;
  }

  #takeOfHead(byte: number): void {
    if (!this.#isInString && isBlank(byte)) {
      this.#isBehindBlank = true;
      return;
    }
    // Reject a blank inside a number or word. The parser omits blanks outside of strings, so `1 2` would become 12.
    const isParted = this.#isBehindBlank && isOfLiteral(byte) && isOfLiteral(this.#head[this.#headBytes - 1]);
    this.#isBehindBlank = false;
    if (isParted) throw this.#bad('it is not valid JSON');
    if (this.#headBytes === this.#head.length)
      throw this.#bad(`its part outside the list of files has more than ${this.#head.length} bytes`);
    const isFiles = byte === OPEN_LIST && !this.#isInString && this.#depth === 1 && this.#endsWithKey();
    this.#head[this.#headBytes] = byte;
    this.#headBytes += 1;
    if (!isFiles) {
      this.#follow(byte);
      return;
    }
    if (this.#hasFiles) throw this.#bad('it contains two lists of files');
    this.#hasFiles = true;
    this.#state = 'first';
  }

  #endsWithKey(): boolean {
    const from = this.#headBytes - FILES_KEY.length;
    const before = this.#head[from - 1];
    return (
      (before === OPEN || before === COMMA) && this.#head.subarray(Math.max(0, from), this.#headBytes).equals(FILES_KEY)
    );
  }

  #takeBetween(byte: number): void {
    if (isBlank(byte)) return;
    const state = this.#state;
    if (byte === OPEN && state !== 'behind') {
      this.#state = 'file';
      this.#depth = 2;
    } else if (byte === COMMA && state === 'behind') this.#state = 'next';
    else if (byte === CLOSE_LIST && state !== 'next') {
      this.#state = 'head';
      this.#depth = 1;
      this.#takeOfHead(byte);
      this.#depth = 1;
    } else throw this.#bad('its files are not a list of objects');
  }

  #takeFile(bytes: Buffer): void {
    if (this.#fault !== null) return;
    const bad: DocumentFault = (state, why) => this.#bad(`/files/${this.#files}${state.replace(/^it /, ' ')}`, why);
    try {
      this.#onFile(checkFile(parseJson(bytes, bad), bad));
    } catch (fault) {
      this.#fault = fault;
    }
    this.#files += 1;
  }

  #follow(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInString) {
      this.#isEscaped = byte === ESCAPE;
      this.#isInString = byte !== QUOTE;
    } else if (byte === QUOTE) this.#isInString = true;
    else if (byte === OPEN || byte === OPEN_LIST) this.#depth += 1;
    else if (byte === CLOSE || byte === CLOSE_LIST) this.#depth -= 1;
  }

  #hold(part: Buffer): void {
    this.#heldBytes += part.length;
    if (this.#heldBytes > FILE_ENTRY_BYTES_MAX)
      throw this.#bad(`its entry for one file has more than ${FILE_ENTRY_BYTES_MAX} bytes`);
    this.#held.push(Buffer.from(part));
  }
}

function faultsOf(name: string): DocumentFault {
  return (state, { cause, isNewer = false } = {}) =>
    new DocshelfError('bad_manifest', `Cannot read the manifest of "${showName(name)}": ${state}`, {
      next: isNewer
        ? 'Install the docshelf version that wrote the bundle, or a newer one.'
        : 'Generate the bundle again.',
      cause,
    });
}

export class BundleManifest {
  readonly index: number;
  readonly #listing: ArchiveListing;
  readonly #name: string;
  readonly #act: string;
  readonly #reader: ManifestReader;
  readonly #digests: Buffer;
  readonly #isListed: Uint8Array;
  readonly #types: (string | undefined)[];
  /** Media types in the manifest. All files of a type share this text, because a manifest can list a million files. */
  readonly #knownTypes = new Map<string, string>();
  readonly #differences: string[] = [];
  #differing = 0;
  /** Number of by-products (`isByProduct`) that the manifest counts as pages, because earlier exporters counted them. */
  #byProductPages = 0;

  constructor(listing: ArchiveListing, name: string, act = 'unpack') {
    this.index = manifestIndex(listing);
    this.#listing = listing;
    this.#name = name;
    this.#act = act;
    this.#reader = new ManifestReader(name, (file) => this.#take(file));
    this.#digests = Buffer.alloc(DIGEST_BYTES * listing.entries.length);
    this.#isListed = new Uint8Array(listing.entries.length);
    this.#types = new Array<string | undefined>(listing.entries.length);
  }

  push(bytes: Buffer): void {
    this.#reader.push(bytes);
  }

  /** Compares the manifest with the files: paths, sizes, digests and number of pages. @throws DocshelfError `bad_manifest`, `manifest_mismatch` */
  check(extracted: ExtractedFiles): ManifestHead {
    const head = this.#reader.end();
    let pages = this.#byProductPages;
    for (const index of extracted.indexes()) {
      const file = extracted.at(index);
      if (file.path === MANIFEST_PATH) continue;
      pages += Number(isSitePage(file));
      const at = index * DIGEST_BYTES;
      if (this.#isListed[index] === 0) this.#differ(`"${showName(file.path)}" is not listed`);
      else if (this.#digests.toString('hex', at, at + DIGEST_BYTES) !== file.sha256) {
        this.#differ(`"${showName(file.path)}" has other content`);
      }
    }
    if (pages !== head.pageCount) this.#differ(`it has ${counted(pages, 'page')}, not ${head.pageCount}`);
    if (this.#differing > 0) throw this.#mismatch();
    return head;
  }

  typeOf(index: number): string | undefined {
    return this.#types[index];
  }

  #take({ path, size, sha256, type }: ManifestFile): void {
    if (isByProduct(path)) {
      this.#byProductPages += Number(isSitePage({ path }));
      return;
    }
    const index = this.#indexOf(path);
    if (index < 0) {
      this.#differ(`"${showName(path)}" is missing`);
      return;
    }
    if (this.#isListed[index] === 1) throw faultsOf(this.#name)('it lists a file twice');
    this.#isListed[index] = 1;
    this.#digests.write(sha256, index * DIGEST_BYTES, 'hex');
    this.#types[index] = this.#knownTypes.get(type) ?? type;
    this.#knownTypes.set(type, this.#types[index]);
    if (this.#knownTypes.size > TYPES_MAX) throw faultsOf(this.#name)(`it names more than ${TYPES_MAX} media types`);
    const there = this.#listing.entries.at(index).size;
    if (there !== size) this.#differ(`"${showName(path)}" has ${counted(there, 'byte')}, not ${size}`);
  }

  #indexOf(path: string): number {
    const { entries } = this.#listing;
    const isOwn = path.startsWith(OWN_FOLDER);
    if (path === MANIFEST_PATH || (isOwn && this.#listing.ownRoot === '')) return -1;
    const place = isOwn
      ? ({ place: 'own', path: path.slice(OWN_FOLDER.length) } as const)
      : ({ place: 'site', path } as const);
    const index = entries.indexOf(nameAt(place, this.#listing));
    return index >= 0 && entries.isFile(index) && placeOf(entries.at(index), this.#listing) !== null ? index : -1;
  }

  #differ(difference: string): void {
    this.#differing += 1;
    if (this.#differences.length < NAMED_DIFFERENCES_MAX) this.#differences.push(difference);
  }

  #mismatch(): DocshelfError {
    const more = this.#differing - this.#differences.length;
    return new DocshelfError(
      'manifest_mismatch',
      `Cannot ${this.#act} "${showName(this.#name)}": it differs from its manifest: ${this.#differences.join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
      {
        next: 'Fetch or generate the bundle again: its content changed after docshelf wrote the manifest.',
        fields: { differences: this.#differing },
      },
    );
  }
}
