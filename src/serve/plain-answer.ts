import { bytesResponse } from './site-bytes.ts';

/** An answer whose parts are all in memory: written to the socket as it is. */
export interface PlainAnswer {
  readonly status: number;
  /** Names and values in turns, as Node takes them. */
  readonly headers: readonly string[];
  readonly body: Buffer<ArrayBuffer> | null;
}

export function flatHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flat();
}

export function toResponse({ status, headers, body }: PlainAnswer, method: string): Response {
  const fields = new Headers();
  for (let at = 0; at < headers.length; at += 2) fields.append(headers[at] ?? '', headers[at + 1] ?? '');
  return bytesResponse(method === 'HEAD' ? null : body, { status, headers: fields });
}

/** `no-cache`: browsers keep a 301 or 308 for good otherwise, and another version may decide otherwise. */
export function redirect(status: number, location: string): Response {
  return new Response(null, {
    status,
    headers: { Location: location, 'Content-Length': '0', 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' },
  });
}
