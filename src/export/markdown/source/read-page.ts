import type { SiteSink } from '../../../domain/job.ts';
import type { FoundFile } from '../../sources/walk-folder.ts';
import { type FrontMatter, readFrontMatter } from './front-matter.ts';
import { readSource } from './read-folder.ts';

interface TitledBody {
  /** Inline Markdown, or null where the text begins with something else. */
  readonly heading: string | null;
  readonly body: string;
}

export interface PageText extends TitledBody {
  readonly matter: FrontMatter;
}

/** Bytes of one page's Markdown: a thick book has 2 MiB, and rendering takes some fifty times as much memory. */
export const PAGE_BYTES_MAX = 8 * 1024 ** 2;

/** @throws DocshelfError `bad_source` */
export async function readPage(source: FoundFile, find: SiteSink['find']): Promise<PageText> {
  const { text, isUnicode } = decodeText(await readSource(source, PAGE_BYTES_MAX));
  if (!isUnicode) find({ kind: 'not_utf8', page: source.path, detail: 'it is no UTF-8, and was read as Windows-1252' });
  const { matter, body } = readFrontMatter(source.path, text);
  return { matter, ...splitTitle(body) };
}

/** UTF-8, UTF-16 by its byte order mark, else Windows-1252 as browsers do (`isUnicode` false). Lines end with `\n`. */
export function decodeText(bytes: Uint8Array): { readonly text: string; readonly isUnicode: boolean } {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  try {
    return { text: unixLines(new TextDecoder(encoding, { fatal: true }).decode(bytes)), isUnicode: true };
  } catch {
    return { text: unixLines(new TextDecoder('windows-1252').decode(bytes)), isUnicode: false };
  }
}

function unixLines(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

/** UTF-16 code units; patterns are spared a longer first line. */
const HEADING_LENGTH_MAX = 1_000;
/** First characters of blocks other than paragraphs, which are no setext headings (CommonMark, section 4.3). */
const OTHER_BLOCK = /^(?:[#>`~|<]|[*+-](?:\s|$)|\d{1,9}[.)]\s)/;

/** Finds CommonMark's ATX and setext headings (sections 4.2 and 4.3), of one line. */
function splitTitle(markdown: string): TitledBody {
  const start = markdown.search(/\S/);
  const [line = '', below = ''] = start === -1 ? [] : markdown.slice(start).split('\n', 2);
  if (line.length > HEADING_LENGTH_MAX || /\n {4}|^ {4}|\t/.test(markdown.slice(0, start))) {
    return { heading: null, body: markdown };
  }
  const after = (lines: string) => markdown.slice(start + lines.length + 1);
  if (/^#\s/.test(line)) {
    const heading = line.slice(1).trim();
    return { heading: heading.replace(/(?:^|\s)#+$/, '').trim() || null, body: after(line) };
  }
  if (/^=+$/.test(below.trim()) && !OTHER_BLOCK.test(line)) {
    return { heading: line.trim(), body: after(`${line}\n${below}`) };
  }
  return { heading: null, body: markdown };
}
