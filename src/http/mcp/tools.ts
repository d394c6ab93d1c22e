import { DocshelfError } from '../../domain/errors.ts';
import { searchRequestOf, searchRequestSchema } from '../../domain/search.ts';
import type { ShapeOf } from '../../domain/shape.ts';
import { encodeUnsafe } from '../../search/extract/reader-url.ts';
import { readAnswer } from '../../search/index.ts';
import { decodeOrKeep } from '../../web/escape.ts';
import { withoutHints } from '../openapi.ts';
import { requestChecker } from '../read-request.ts';
import { addressOf, type Documentation, parseAddress, servedRelease, shown } from './documentation.ts';

interface AssistantTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: object;
  run(documentation: Documentation, written: unknown, signal: AbortSignal): Promise<readonly string[]>;
}

/** Default UTF-16 code units of a response, about 5,000 tokens. Common assistants warn above 10,000 tokens, and cut at 25,000. */
const READ_DEFAULT = 20_000;
const READ_MAX = 60_000;
/** Maximum UTF-16 code units of all search results together. Assistants can read the rest of a cut result at its address. */
const FOUND_LENGTH_MAX = 60_000;
const LIST_DEFAULT = 100;
const LIST_MAX = 500;
const VERSION_LENGTH_MAX = 128;
/** Maximum length of an address: the longest path of a release (archives.md) with each byte escaped, and an origin. */
const ADDRESS_LENGTH_MAX = 16 * 1024;

const versionSchema = {
  type: 'string',
  minLength: 1,
  maxLength: VERSION_LENGTH_MAX,
  description: 'Version to use, from `versions` of `list_pages`. Default: the active version.',
} as const;

const searchSchema = {
  ...searchRequestSchema,
  properties: { ...searchRequestSchema.properties, version: versionSchema },
} as const;

const listSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    folder: {
      type: 'string',
      maxLength: ADDRESS_LENGTH_MAX,
      default: '/',
      description: 'Folder to list, such as `/guides/`.',
    },
    recursive: {
      type: 'boolean',
      default: false,
      description: 'True lists all pages in the folder and its subfolders. False lists only its own pages and folders.',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: LIST_MAX,
      default: LIST_DEFAULT,
      description: 'Maximum number of entries.',
    },
    cursor: { type: 'string', maxLength: ADDRESS_LENGTH_MAX, description: '`next` from the previous response.' },
    version: versionSchema,
  },
} as const;

const readSchema = {
  type: 'object',
  required: ['address'],
  additionalProperties: false,
  properties: {
    address: {
      type: 'string',
      minLength: 1,
      maxLength: ADDRESS_LENGTH_MAX,
      description:
        'Address of the page, from `search` or `list_pages`. With a `#fragment`, the text starts at its section.',
    },
    offset: {
      type: 'integer',
      minimum: 0,
      description: 'Offset of the first character to read. Default: the start of the `#fragment`, or 0.',
    },
    length: {
      type: 'integer',
      minimum: 1,
      maximum: READ_MAX,
      default: READ_DEFAULT,
      description: 'Maximum number of characters to read.',
    },
    version: versionSchema,
  },
} as const;

const checkSearch = requestChecker<ShapeOf<typeof searchSchema>>('search', searchSchema);
const checkList = requestChecker<ShapeOf<typeof listSchema>>('list pages', listSchema);
const checkRead = requestChecker<ShapeOf<typeof readSchema>>('read a page', readSchema);

export const TOOLS: readonly AssistantTool[] = [
  {
    name: 'search',
    title: 'Search the documentation',
    description:
      'Finds sections of this documentation by keywords and meaning, best first. Each result contains the address of its page (with the #fragment of the section), title, headings, version, a score from 0 to 1 and the matching text. Use read_page to read the whole page.',
    inputSchema: withoutHints(searchSchema),
    run: findSections,
  },
  {
    name: 'read_page',
    title: 'Read a page',
    description: `Returns a page of this documentation as Markdown, by default ${READ_DEFAULT} characters from its start, or from the section of the address's #fragment. The first part of the response has title, address, version and length of the page. Pass its \`next\` as \`offset\` to read the rest.`,
    inputSchema: readSchema,
    run: readPage,
  },
  {
    name: 'list_pages',
    title: 'List pages',
    description:
      'Lists the pages and folders in a folder of this documentation, with addresses and titles. The root also lists `versions`, newest first, if there are several. To find a topic, use search first.',
    inputSchema: listSchema,
    run: listPages,
  },
];

async function findSections(site: Documentation, written: unknown, signal: AbortSignal): Promise<readonly string[]> {
  const { version: named = null, ...asked } = checkSearch(written);
  const request = searchRequestOf(asked);
  if (site.search === null) {
    const next = 'Find the page with list_pages, and read it with read_page.';
    throw new DocshelfError('search_off', 'Cannot search: search is off for this site', { next });
  }
  const { version } = await servedRelease(site, named);
  const isActive = named === null || version === (await site.release(null))?.version;
  const filter = isActive ? request.filter : { ...request.filter, version };
  const { results } = readAnswer(await site.search.search({ ...request, filter }, signal));
  let left = FOUND_LENGTH_MAX;
  const found = results.map(({ content, path, metadata }) => {
    const { title, headings, version: own, language, tags, score } = metadata;
    const shown = cut(content, 0, left);
    left -= shown.length;
    // Make only paths absolute, because a hosted search can already return absolute URLs.
    const address = path.startsWith('/') && site.origin !== null ? new URL(path, site.origin).href : path;
    return { address, title, headings, version: own ?? version, language, tags, score, content: shown };
  });
  return [JSON.stringify({ version, results: found })];
}

async function readPage(site: Documentation, written: unknown, signal: AbortSignal): Promise<readonly string[]> {
  const { address, offset, length = READ_DEFAULT, version: named = null } = checkRead(written);
  const place = parseAddress(address, site);
  if (place === null) throw noPage(address);
  const release = await servedRelease(site, named ?? place.version);
  const page = await release.read(place.target, signal, offset === undefined ? place.fragment : null);
  if (page === null) throw noPage(address);
  const { path, title, markdown } = page;
  const start = Math.min(offset ?? page.start, markdown.length);
  const text = cut(markdown, start, length);
  const end = startOf(markdown, start) + text.length;
  const facts = {
    title,
    address: addressOf(path, { ...release, origin: site.origin }),
    version: release.version,
    offset: startOf(markdown, start),
    length: text.length,
    total: markdown.length,
    next: end < markdown.length ? end : null,
  };
  return [JSON.stringify(facts), text];
}

async function listPages(site: Documentation, written: unknown): Promise<readonly string[]> {
  const { folder = '/', recursive = false, limit = LIST_DEFAULT, cursor, version: asked = null } = checkList(written);
  const place = parseAddress(folder, site);
  if (place === null) throw noPage(folder);
  const release = await servedRelease(site, asked ?? place.version);
  const { basePath } = release;
  const name = encodeUnsafe(decodeOrKeep(place.target))
    .replaceAll('?', '%3F')
    .split('/')
    .filter((part) => part !== '')
    .join('/');
  const question = { folder: name === '' ? '/' : `/${name}/`, isRecursive: recursive, after: cursor ?? null, limit };
  const { entries, total, next } = listTree(await release.pages(), question);
  if (total === 0) {
    throw new DocshelfError('not_found', `Cannot list "${shown(folder)}": there is no such folder`, {
      next: 'List "/" to see the folders.',
    });
  }
  const paths = entries.filter(({ kind }) => kind === 'page').map(({ path }) => path);
  const found = await release.titles(paths);
  const titles = new Map(paths.map((path, at) => [path, found[at] ?? null]));
  const listed = entries.map((entry) => {
    if (entry.kind === 'folder') return { folder: basePath + entry.path.slice(1), pages: entry.pages };
    const address = addressOf(entry.path, { basePath, origin: site.origin });
    return { address, title: titles.get(entry.path) ?? null };
  });
  const versions = name === '' ? await site.versions() : [];
  const named = versions.length > 1 ? { versions } : {};
  return [JSON.stringify({ version: release.version, ...named, total, entries: listed, next })];
}

export function noPage(address: string): DocshelfError {
  return new DocshelfError('not_found', `Cannot read "${shown(address)}": this documentation has no such page`, {
    next: 'Use an address from search or list_pages.',
  });
}

/** Returns a part of the text without splitting a surrogate pair. */
export function cut(text: string, from: number, length: number): string {
  const start = startOf(text, from);
  const end = Math.min(text.length, start + Math.max(0, length));
  const isParted = end > start && isLow(text.charCodeAt(end)) && isHigh(text.charCodeAt(end - 1));
  if (!isParted) return text.slice(start, end);
  // Return at least one character, even if it is longer than `length`, so that a caller with length 1 can continue.
  return text.slice(start, end - start > 1 ? end - 1 : end + 1);
}

const startOf = (text: string, from: number): number =>
  from > 0 && isLow(text.charCodeAt(from)) && isHigh(text.charCodeAt(from - 1)) ? from - 1 : from;

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

type TreeEntry =
  | { readonly kind: 'page'; readonly path: string }
  | { readonly kind: 'folder'; readonly path: string; readonly pages: number };

export interface TreeQuestion {
  readonly folder: string;
  readonly isRecursive: boolean;
  /** Path of the last entry of the previous response. Null starts with the first entry. */
  readonly after: string | null;
  readonly limit: number;
}

/** Lists a folder. @param pages paths in UTF-16 order @returns `next` is the `after` of the next call, or null at the end */
export function listTree(pages: readonly string[], { folder, isRecursive, after, limit }: TreeQuestion) {
  // Add the page `/guides` to the folder `/guides/`, because a site can write folders without a slash.
  const below = pages.filter((path) => path.startsWith(folder) || `${path}/` === folder);
  const entries = isRecursive ? below.map(pageEntry) : entriesOf(below, folder);
  const rest = after === null ? entries : entries.filter(({ path }) => path > after);
  const shown = rest.slice(0, limit);
  return { entries: shown, total: entries.length, next: rest.length > limit ? (shown.at(-1)?.path ?? null) : null };
}

const pageEntry = (path: string): TreeEntry => ({ kind: 'page', path });

function entriesOf(pages: readonly string[], folder: string): TreeEntry[] {
  // Group the pages by subfolder: the path up to the first slash after `folder`. A page without such a slash is its own group.
  const groups = Map.groupBy(pages, (page) => page.slice(0, page.indexOf('/', folder.length) + 1) || page);
  const entries = Array.from(groups, ([path, inside]): TreeEntry => {
    // Show a subfolder as a page if it contains only its own start page.
    const isPage = inside.length === 1 && inside[0] === path;
    return isPage ? pageEntry(path) : { kind: 'folder', path, pages: inside.length };
  });
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}
