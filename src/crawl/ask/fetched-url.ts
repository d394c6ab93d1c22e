import { DocshelfError } from '../../domain/errors.ts';
import { charsetOfType } from '../../web/index.ts';
import type { FetchedAnswer } from '../fetch/guarded-answer.ts';

/** The answer of an address, as the journal and the record of a crawl keep it. */
export interface FetchedUrl {
  /** In its canonical form. */
  readonly url: string;
  /** 200 where content is kept. */
  readonly status: number;
  /** Where a redirect leads: absolute, with its fragment. */
  readonly location: string | null;
  /** The Content-Type as it came; empty where there was none. */
  readonly contentType: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** An `X-Robots-Tag` forbids to follow its links. */
  readonly noFollow: boolean;
  /** The content as it came, decoded; null where none is kept. */
  readonly content: FetchedContent | null;
}

/** Where content is in a pack. */
export interface PackedAt {
  /** Name of the file. */
  readonly pack: string;
  readonly offset: number;
}

export interface FetchedContent {
  readonly sha256: string;
  readonly size: number;
  /** In a pack, where it is looked through; null: in the file store. */
  readonly packed: PackedAt | null;
}

/** The media type of a Content-Type, in lower case. */
export function mediaTypeOf({ contentType }: Pick<FetchedUrl, 'contentType'>): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** The charset of a Content-Type, or null where it names none. */
export function charsetOf({ contentType }: Pick<FetchedUrl, 'contentType'>): string | null {
  return charsetOfType(contentType);
}

/** A browser takes a body as one message, held several times over on its way. */
const BODY_BYTES_MAX = 64 * 1024 ** 2;

/**
 * An answer that a crawl has kept, as the browser is given it: its pages are rendered from what is exported, and nothing
 * is fetched twice. Of the headers only what was kept comes: no cookie is set, and no policy holds.
 *
 * @param read gives the bytes of content that the crawl keeps (`KeptContent`)
 * @throws DocshelfError `source_too_large`; what `read` throws
 */
export async function storedAnswer(
  { url, status, contentType, location, content }: FetchedUrl,
  read: (content: FetchedContent) => Promise<Uint8Array>,
): Promise<FetchedAnswer> {
  if (content !== null && content.size > BODY_BYTES_MAX) {
    throw new DocshelfError('source_too_large', `Cannot show "${url}" in a browser: it has ${content.size} bytes`);
  }
  const headers: Readonly<Record<string, string | null>> = { 'content-type': contentType || null, location };
  const body = content === null ? new Uint8Array() : await read(content);
  return { status, header: (name) => headers[name] ?? null, body };
}
