import type { Finding } from '../../../domain/job.ts';
import { decodeText } from './decode-text.ts';
import { type FrontMatter, readFrontMatter } from './front-matter.ts';
import { splitTitle } from './leading-title.ts';
import { readSource, type SourceFile } from './read-folder.ts';

/** A page as its file has it. */
export interface PageText {
  readonly matter: FrontMatter;
  /** Inline Markdown of the title that the text begins with, or null. */
  readonly heading: string | null;
  /** Markdown below that title. */
  readonly body: string;
}

/** Bytes of one page's Markdown: a thick book has 2 MiB, and rendering takes some fifty times as much memory. */
export const PAGE_BYTES_MAX = 8 * 1024 ** 2;

/** @throws DocshelfError `bad_source` */
export async function readPage(source: SourceFile, find: (finding: Finding) => void): Promise<PageText> {
  const { text, isUnicode } = decodeText(await readSource(source, PAGE_BYTES_MAX));
  if (!isUnicode) find({ kind: 'not_utf8', page: source.path, detail: 'it is no UTF-8, and was read as Windows-1252' });
  const { matter, body } = readFrontMatter(source.path, text);
  return { matter, ...splitTitle(body) };
}
