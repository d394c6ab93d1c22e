import { constants, open } from 'node:fs/promises';
import { parse, YAMLParseError } from 'yaml';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import { badSource, type SiteSink } from '../../domain/job.ts';
import { ARCHIVE_LIMITS } from '../../domain/limits.ts';
import { languageTag } from '../../web/language-tag.ts';
import { type FoundFile, statSource, walkFolder } from '../sources/walk-folder.ts';

const NEXT = 'Set the path of the source to the folder of Markdown files, readable for docshelf.';
/** Folder of npm packages, such as the tools that build the documentation. Markdown files of packages are not pages. */
const PACKAGES = /(?:^|\/)node_modules(?:\/|$)/;

/** Lists files in path order, without `node_modules`. @throws DocshelfError `bad_source` if `dir` is not a readable folder */
export async function readFolder(
  dir: string,
  find: SiteSink['find'],
  signal: AbortSignal,
): Promise<readonly FoundFile[]> {
  const info = await statSource(dir, NEXT);
  if (!info.isDirectory()) throw badSource(dir, 'it is not a folder', NEXT);
  const { files, leftOut } = await walkFolder(dir, ARCHIVE_LIMITS, signal);
  for (const finding of leftOut) if (!PACKAGES.test(finding.page)) find(finding);
  return files
    .filter(({ path }) => !PACKAGES.test(path))
    .map((file) => ({ ...file, path: file.path.normalize('NFC') }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

export async function readSource({ path, file }: FoundFile, bytesMax: number): Promise<Uint8Array> {
  try {
    // Reject a symbolic link, because it was created after the listing, which resolved all links.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    const { size } = await handle.stat();
    if (size > bytesMax)
      throw badSource(path, `it is larger than ${bytesMax / 1024 ** 2} MiB`, 'Split the file into several files.');
    return await handle.readFile();
  } catch (error) {
    if (error instanceof DocshelfError) throw error;
    throw badSource(
      path,
      `it cannot be read (${errnoOf(error) ?? error})`,
      'Make the file readable for docshelf.',
      error,
    );
  }
}

type TitledBody = { readonly heading: string | null; readonly body: string };

export interface PageText extends TitledBody {
  readonly matter: FrontMatter;
  /** Markdown of the page with its title, without front matter. */
  readonly text: string;
}

/** Maximum bytes of a page. A long book has 2 MiB, and rendering takes about fifty times as much memory. */
export const PAGE_BYTES_MAX = 8 * 1024 ** 2;

export async function readPage(source: FoundFile, find: SiteSink['find']): Promise<PageText> {
  const { text, isUnicode } = decodeText(await readSource(source, PAGE_BYTES_MAX));
  if (!isUnicode)
    find({ kind: 'not_utf8', page: source.path, detail: 'it is not UTF-8, so docshelf read it as Windows-1252' });
  const { matter, body } = readFrontMatter(source.path, text);
  return { matter, text: body, ...splitTitle(body) };
}

/** Decodes UTF-8, UTF-16 (by its byte order mark), or else Windows-1252 like browsers. Converts line ends to line feeds. */
export function decodeText(bytes: Uint8Array): { readonly text: string; readonly isUnicode: boolean } {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  try {
    return { text: unixLines(new TextDecoder(encoding, { fatal: true }).decode(bytes)), isUnicode: true };
  } catch {
    return { text: unixLines(new TextDecoder('windows-1252').decode(bytes)), isUnicode: false };
  }
}

const unixLines = (text: string): string => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);

const HEADING_LENGTH_MAX = 1_000;
/** Matches lines that begin another block, such as a list, and so cannot be setext headings (CommonMark, section 4.3). */
const OTHER_BLOCK = /^(?:[#>`~|<]|[*+-](?:\s|$)|\d{1,9}[.)]\s)/;

/** Matches comments at the start of a page, such as its license, and white space. */
const COMMENTS = /^(?:\s*<!--[^-]*(?:-(?!->)[^-]*)*-->[ \t]*(?=\n))*\s*/;

/** Splits the title off a page. The title can be a one-line ATX or setext heading (CommonMark, sections 4.2 and 4.3). */
function splitTitle(markdown: string): TitledBody {
  const before = COMMENTS.exec(markdown)?.[0] ?? '';
  const [line = '', below = ''] = markdown.slice(before.length).split('\n', 2);
  if (line.length > HEADING_LENGTH_MAX || /(?: {4}|\t)$/.test(before)) return { heading: null, body: markdown };
  const after = (lines: string) => before + markdown.slice(before.length + lines.length + 1);
  if (/^#\s/.test(line)) {
    const heading = line.slice(1).trim();
    return { heading: heading.replace(/(?:^|\s)#+$/, '').trim() || null, body: after(line) };
  }
  if (/^=+$/.test(below.trim()) && !OTHER_BLOCK.test(line))
    return { heading: line.trim(), body: after(`${line}\n${below}`) };
  return { heading: null, body: markdown };
}

export type FrontMatter = ReturnType<typeof readFrontMatter>['matter'];

const FENCED = /^---[ \t]*\n((?:[\s\S]*?\n)?)(?:---|\.\.\.)[ \t]*(?:\n|$)/;
const MATTER_LENGTH_MAX = 64 * 1024;
const TRUE_WORDS = /^(?:true|yes|on)$/i;
const FALSE_WORDS = /^(?:false|no|off|)$/i;

/** @throws DocshelfError `bad_source` if the front matter is invalid */
export function readFrontMatter(path: string, text: string) {
  const fenced = FENCED.exec(text);
  const yaml = fenced?.[1] ?? '';
  if (yaml.length > MATTER_LENGTH_MAX) throw fault(path, 1, `it is longer than ${MATTER_LENGTH_MAX} characters`);
  const says = parseYaml(path, yaml);
  const faultOf = (key: string, state: string) => fault(path, lineOf(yaml, key), `"${key}" ${state}`);
  const textOf = (key: string): string | null => {
    const value = Object.hasOwn(says, key) ? says[key] : undefined;
    if (value === undefined) return null;
    if (typeof value !== 'string') throw faultOf(key, 'is not text');
    return value.trim().replace(/\s+/g, ' ') || null;
  };
  const flagOf = (key: string): boolean => {
    const word = textOf(key) ?? '';
    if (TRUE_WORDS.test(word)) return true;
    if (FALSE_WORDS.test(word)) return false;
    throw faultOf(key, 'is neither true nor false');
  };
  const order = textOf('order');
  if (order !== null && !Number.isFinite(Number(order))) throw faultOf('order', 'is not a number');
  const languageKey = Object.hasOwn(says, 'language') ? 'language' : 'lang';
  const written = textOf(languageKey);
  const language = written === null ? null : languageTag(written);
  if (written !== null && language === null) throw faultOf(languageKey, 'is not a language tag such as fr or pt-BR');
  const tagsKey = Object.hasOwn(says, 'tags') ? 'tags' : 'keywords';
  const listed = says[tagsKey];
  const tags: readonly unknown[] = Array.isArray(listed) ? listed : (textOf(tagsKey) ?? '').split(',');
  if (!tags.every((tag) => typeof tag === 'string')) throw faultOf(tagsKey, 'is not a list of words');
  return {
    matter: {
      title: textOf('title'),
      sidebarTitle: textOf('sidebarTitle'),
      description: textOf('description'),
      tags: [...new Set(tags.map((tag) => tag.trim().replaceAll(',', ' ')).filter((tag) => tag !== ''))],
      version: textOf('version'),
      language,
      order: order === null ? null : Number(order),
      since: textOf('since'),
      isDraft: flagOf('draft'),
      isHidden: flagOf('hidden'),
      isNoindex: flagOf('noindex'),
    },
    body: text.slice(fenced?.[0].length ?? 0),
  };
}

/** Parses YAML and keeps scalars as text, so that version `1.10` does not become 1.1. */
function parseYaml(path: string, yaml: string): Readonly<Record<string, unknown>> {
  if (yaml.trim() === '') return {};
  let says: unknown;
  try {
    says = parse(yaml, { schema: 'failsafe', logLevel: 'error' });
  } catch (error) {
    const line = error instanceof YAMLParseError ? (error.linePos?.[0].line ?? 1) : 1;
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    throw fault(path, line, reason.replace(/ at line \d+, column \d+:?$/, ''), error);
  }
  if (typeof says === 'string' && says.trim() === '') return {};
  if (typeof says === 'object' && says !== null && !Array.isArray(says)) return says as Record<string, unknown>;
  throw fault(path, 1, 'it is not a map of keys and values');
}

const lineOf = (yaml: string, key: string): number =>
  yaml.split('\n').findIndex((line) => line.replace(/^["']/, '').startsWith(key)) + 1 || 1;

function fault(path: string, line: number, state: string, cause?: unknown): DocshelfError {
  return new DocshelfError('bad_source', `Cannot read the front matter of "${path}", line ${line + 1}: ${state}`, {
    next: 'Write front matter as YAML between two lines of ---, with quotes around text that contains a colon.',
    fields: { path, line: line + 1 },
    cause,
  });
}
