import { hash } from 'node:crypto';
import { extension } from 'mime-types';
import { isPage, OWN_FOLDER } from '../domain/release.ts';
import { percentDecode } from '../web/escape.ts';
import { shownTypeOf } from '../web/media-type.ts';
import { GENERIC_TYPES } from './entry.ts';

type AnsweredUrl = { readonly url: string; readonly type: string; readonly sha256: string };

interface Named extends AnsweredUrl {
  readonly name: NaturalName;
  readonly query: string;
}

const PLAIN_QUERY = /^[A-Za-z0-9_=.,~+&-]{1,60}$/;

/**
 * Assigns a file path to each address. Paths do not depend on the order of addresses. If addresses differ only in the query, the
 * shortest address gets a path without query: `list.html`, `list@page=2.html`. Addresses with equal path and content share a
 * file. If paths differ only in case, all but the one with the fewest capitals get suffixes.
 */
export function assignNames(
  answers: Iterable<AnsweredUrl>,
  ownOrigin: string,
  taken: Iterable<string> = [],
): Map<string, string> {
  const named = Array.from(answers, (answer): Named => {
    const url = new URL(answer.url);
    return { ...answer, name: naturalName(url, answer.type, ownOrigin), query: url.search.slice(1) };
  });
  const groups = Map.groupBy(named, ({ name }) => fold(pathOf(name)));
  const names = new Names(taken, groups.keys());
  for (const [, group] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) names.addGroup(group.sort(byPreference));
  return names.byUrl;
}

class Names {
  readonly byUrl = new Map<string, string>();
  readonly #taken: Set<string>;
  readonly #folders = new Set<string>();

  constructor(taken: Iterable<string>, wanted: Iterable<string>) {
    this.#taken = new Set(Array.from(taken, fold));
    for (const path of this.#taken) this.#addFolders(path);
    for (const path of wanted) this.#addFolders(path);
  }

  addGroup(group: readonly Named[]): void {
    const pathByContent = new Map<string, string>();
    for (const named of group) {
      const content = `${pathOf(named.name)} ${named.sha256}`;
      let path = pathByContent.get(content);
      if (path === undefined) {
        path = this.#freePath(named, pathByContent.size === 0);
        pathByContent.set(content, path);
      }
      this.byUrl.set(named.url, path);
    }
  }

  #freePath({ name, query, url }: Named, isFirst: boolean): string {
    const natural = isFirst || query === '' ? '' : querySuffix(query);
    for (const digits of [0, 8, 16, 64]) {
      const suffix = digits === 0 ? natural : `-${hash('sha256', url).slice(0, digits)}`;
      const path = pathOf(name, suffix);
      const folded = fold(path);
      if (this.#taken.has(folded) || this.#folders.has(folded)) continue;
      this.#taken.add(folded);
      return path;
    }
    throw new Error(`no name is left for ${url}`);
  }

  #addFolders(foldedPath: string): void {
    for (let at = foldedPath.lastIndexOf('/'); at > 0; at = foldedPath.lastIndexOf('/', at - 1)) {
      const folder = foldedPath.slice(0, at);
      if (this.#folders.has(folder)) return;
      this.#folders.add(folder);
    }
  }
}

const capitalsIn = (url: string): number => url.replace(/[^A-Z]/g, '').length;

const byPreference = (a: Named, b: Named): number =>
  a.query.length - b.query.length ||
  a.url.length - b.url.length ||
  capitalsIn(a.url) - capitalsIn(b.url) ||
  (a.url < b.url ? -1 : 1);

const querySuffix = (query: string): string =>
  PLAIN_QUERY.test(query) ? `@${query}` : `@${hash('sha256', query).slice(0, 12)}`;

const fold = (path: string): string => path.normalize('NFC').toUpperCase().toLowerCase();

const EXTERNAL_FOLDER = '_external';

type NaturalName = { readonly folder: string; readonly stem: string; readonly extension: string };

/** Maximum UTF-8 bytes of a path segment. File systems allow 255 bytes. The difference is space for suffixes. */
const SEGMENT_BYTES_MAX = 180;
const PATH_BYTES_MAX = 900;
/** Maximum depth of folders, less than the 64 that archives allow. */
const DEPTH_MAX = 48;
const LONG_FOLDER = '_long/';

/** Characters that Windows rejects in names. A slash comes from a decoded `%2F`. */
const REFUSED = /[\u0000-\u001f\u007f-\u009f<>:"|?*\\/]/g;
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)/i;
/** Matches names like `Start Docs.html`, which an import omits as launchers of the site. */
const LAUNCHER = /^start docs/i;
const OWN = OWN_FOLDER.replace('/', '');

const SCRIPT = /^(?:text|application)\/(?:x-)?(?:java|ecma)script$/;
/** Media types that need the right file extension, because browsers reject these files if their response has another type. */
const STRICT: ReadonlySet<string> = new Set(
  'text/html application/xhtml+xml text/css text/javascript image/svg+xml application/wasm'.split(' '),
);
const MEDIA = /^(?:image|audio|video)\//;

/** Derives the path of a file from its URL without query. Adds `index` for a folder, and the extension of the media type. */
export function naturalName(url: URL, type: string, ownOrigin: string): NaturalName {
  const isOwn = url.origin === ownOrigin;
  const segments = url.pathname.slice(1).split('/').map(decodeSegment);
  const last = segments.pop() ?? '';
  const folders = segments.map((segment, at) => safeSegment(segment, isOwn && at === 0));
  if (!isOwn) folders.unshift(EXTERNAL_FOLDER, safeSegment(url.host, false));
  const name = last === '' ? 'index' : safeSegment(last, isOwn && folders.length === 0);
  return bounded({ folder: folders.map((folder) => `${folder}/`).join(''), ...withExtension(name, type) });
}

export const pathOf = ({ folder, stem, extension: dotted }: NaturalName, suffix = ''): string =>
  `${folder}${stem}${suffix}${dotted}`;

function withExtension(name: string, type: string): { stem: string; extension: string } {
  const added = missingExtension(name, type);
  if (added !== null) return { stem: name, extension: added };
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? { stem: name, extension: '' } : { stem: name.slice(0, dot), extension: name.slice(dot) };
}

function missingExtension(name: string, answered: string): string | null {
  const type = SCRIPT.test(answered) ? 'text/javascript' : answered;
  const served = shownTypeOf(name);
  if (served === type) return null;
  const isKnown = served !== 'application/octet-stream';
  if (isKnown) {
    const isMisread = isPage(name) && type !== '' && type !== 'application/octet-stream';
    const isOther = MEDIA.test(type) && !MEDIA.test(served);
    if (!STRICT.has(type) && !isMisread && !isOther) return null;
  }
  if (type === 'text/javascript') return '.js';
  if (type === 'image/jpeg') return '.jpg';
  if (GENERIC_TYPES.has(type) && type !== 'text/plain') return null;
  const found = extension(type);
  return found === false || name.toLowerCase().endsWith(`.${found}`) ? null : `.${found}`;
}

const decodeSegment = (segment: string): string => percentDecode(segment)?.normalize('NFC') ?? segment;

function safeSegment(segment: string, isRoot: boolean): string {
  let name = segment.replace(REFUSED, '_').replace(/[. ]+$/, (end) => '_'.repeat(end.length));
  if (name === '') name = '_';
  if (DEVICE.test(name)) name = `_${name}`;
  if (name.startsWith('.') && !(isRoot && name === '.well-known')) name = `_${name}`;
  if (isRoot && (name.toLowerCase() === OWN || LAUNCHER.test(name))) name = `_${name}`;
  return name;
}

function bounded(name: NaturalName): NaturalName {
  const folders = name.folder.split('/').slice(0, -1);
  const stem = cut(name.stem, SEGMENT_BYTES_MAX);
  const dotted = name.extension.length > 20 ? cut(name.extension, 20) : name.extension;
  const isTooLong = folders.length >= DEPTH_MAX || Buffer.byteLength(pathOf(name)) > PATH_BYTES_MAX;
  const folder = isTooLong ? LONG_FOLDER : folders.map((each) => `${cut(each, SEGMENT_BYTES_MAX)}/`).join('');
  return { folder, stem, extension: dotted };
}

function cut(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  // With `stream`, the decoder omits a character whose last bytes are cut off.
  return `${new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, bytesMax - 1), { stream: true })}_`;
}
