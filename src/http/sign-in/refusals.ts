import type { IncomingMessage } from 'node:http';
import { noticePage, noticeText } from '../../serve/index.ts';

interface RefusalWords {
  readonly status: 400 | 401 | 403 | 429 | 503;
  readonly title: string;
  /** For readers, who know nothing of the deployment. */
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A page for who reads, one line for all else. It is in no cache: the next request may be right. */
export function refusal({ method = 'GET', headers }: IncomingMessage, words: RefusalWords): Response {
  const notice = { ...words, headers: { 'Cache-Control': 'no-store', ...words.headers } };
  return headers.accept?.includes('text/html') ? noticePage(method, notice) : noticeText(method, notice);
}
