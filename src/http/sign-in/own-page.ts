import type { IncomingMessage } from 'node:http';
import { type Notice, noticeResponse } from '../../serve/index.ts';
import { requestField } from '../listener/request-field.ts';

/**
 * A refusal, or a page of the sign-in itself, in no cache: the next request may be right. In the reader's own language: the
 * site's would show what exists (contract, section 9.7).
 */
export function ownPage({ method = 'GET', headers }: IncomingMessage, notice: Omit<Notice, 'language'>): Response {
  const header = (name: string): string | undefined => requestField(headers, name);
  const own = { language: null, headers: { 'Cache-Control': 'no-store', ...notice.headers } };
  return noticeResponse({ method, header }, { ...notice, ...own });
}
