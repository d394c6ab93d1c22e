import { DocshelfError } from '../../domain/errors.ts';
import type { FetchedAnswer } from '../ports.ts';
import type { FetchedContent, FetchedUrl } from './fetched-url.ts';

/** A browser takes a body as one message, held several times over on its way. */
const BODY_BYTES_MAX = 64 * 1024 ** 2;

/**
 * What a crawl has kept of an address, as a browser is answered: its pages are rendered from what is exported, and nothing
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
