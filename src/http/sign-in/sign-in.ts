import type { IncomingMessage } from 'node:http';
import type { DocshelfError } from '../../domain/errors.ts';
import { type Notice, noticeResponse } from '../../site/index.ts';
import { peerOf, trustedPeers } from '../listener/request.ts';

/** Builds a page of docshelf in the reader's language, because the language of the site could reveal the site's content. */
export function ownPage({ method = 'GET', headers }: IncomingMessage, notice: Omit<Notice, 'language'>): Response {
  const header = (name: string): string | undefined => headers[name]?.toString();
  const own = { language: null, headers: { 'Cache-Control': 'no-store', ...notice.headers } };
  return noticeResponse({ method, header }, { ...notice, ...own });
}

interface TrustedHeaderOptions {
  readonly name: string;
  /** Trusted proxies: addresses, or networks in CIDR notation. docshelf accepts the sign-in header only from these proxies. */
  readonly trustedProxies: readonly string[];
}

export class TrustedHeader implements SignIn {
  readonly vary: string;
  readonly #name: string;
  readonly #isTrusted: (peer: string) => boolean;

  constructor({ name, trustedProxies }: TrustedHeaderOptions) {
    this.vary = name;
    this.#name = name.toLowerCase();
    this.#isTrusted = trustedPeers(trustedProxies);
  }

  knows(incoming: IncomingMessage): boolean {
    const { rawHeaders } = incoming;
    const given = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === this.#name);
    // Reject repeated headers, because the proxy can have passed on a header that the reader sent.
    const isNamed = given.length === 1 && given[0]?.trim() !== '';
    return isNamed && this.#isTrusted(peerOf(incoming));
  }

  admit(incoming: IncomingMessage): Response | null {
    if (this.knows(incoming)) return null;
    return ownPage(incoming, {
      status: 401,
      words: 'notSignedIn',
      // A 401 response must have a challenge (RFC 9110, section 11.6.1). Browsers ignore the unknown scheme `Proxy-Header`.
      headers: { 'WWW-Authenticate': 'Proxy-Header realm="Documentation"' },
    });
  }
}

export interface SignIn {
  /** Request headers that the sign-in depends on, as the value of `Vary`. */
  readonly vary: string;
  /**
   * Returns null if the reader may read.
   * @param begins true to start a missing sign-in, false to only reject the reader
   * @param signal aborts when the client leaves
   */
  admit(
    incoming: IncomingMessage,
    target: string,
    begins?: boolean,
    signal?: AbortSignal,
  ): Response | null | Promise<Response | null>;
  /** True if docshelf knows, without waiting, that `admit` accepts a GET request of this reader. */
  knows(incoming: IncomingMessage): boolean;
  /** True for addresses that belong to the sign-in itself, such as its callback. */
  isOwn?(target: string): boolean;
}

export const CALLBACK = '_docshelf/sign-in/callback';
export const SIGN_OUT = '_docshelf/sign-out';

export function isSignInAddress(target: string): boolean {
  const [path = ''] = target.slice(1).split('?', 1);
  return path === CALLBACK || path === SIGN_OUT;
}

export interface SignInEvents {
  onWrong(): void;
  onRefused(error: DocshelfError): void;
}
