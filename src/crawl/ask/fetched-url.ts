import { DocshelfError } from '../../domain/errors.ts';
import type { FetchedAnswer } from '../fetch/guarded-answer.ts';

/** As the journal and the record of a crawl keep it. */
export interface FetchedUrl {
  /** Canonical. */
  readonly url: string;
  /** 200 where content is kept. */
  readonly status: number;
  /** Absolute, with its fragment. */
  readonly location: string | null;
  readonly contentType: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly noFollow: boolean;
  /** Decoded; null where none is kept. */
  readonly content: FetchedContent | null;
}

export interface PackedAt {
  readonly pack: string;
  readonly offset: number;
}

export interface FetchedContent {
  readonly sha256: string;
  readonly size: number;
  /** Null: in the file store. */
  readonly packed: PackedAt | null;
}

export function mediaTypeOf({ contentType }: Pick<FetchedUrl, 'contentType'>): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** A browser takes a body as one message, held several times over on its way. */
const BODY_BYTES_MAX = 64 * 1024 ** 2;

/** For the browser: without cookies and policies. @throws DocshelfError `source_too_large`; what `read` throws */
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
