import type { IncomingMessage } from 'node:http';
import type { DocshelfError } from '../../domain/errors.ts';
import { type Notice, noticeResponse } from '../../site/index.ts';
import { peerOf, trustedPeers } from '../listener/remote-address.ts';
import { requestField } from '../listener/request.ts';

/**
 * A refusal, or a page of the sign-in itself, in no cache: the next request may be right. In the reader's own language: the
 * site's would show what exists (contract, section 9.7).
 */
export function ownPage({ method = 'GET', headers }: IncomingMessage, notice: Omit<Notice, 'language'>): Response {
  const header = (name: string): string | undefined => requestField(headers, name);
  const own = { language: null, headers: { 'Cache-Control': 'no-store', ...notice.headers } };
  return noticeResponse({ method, header }, { ...notice, ...own });
}

interface TrustedHeaderOptions {
  readonly name: string;
  /** Addresses and networks in CIDR notation; from any other the header says nothing. */
  readonly trustedProxies: readonly string[];
}

/** A proxy signs readers in, and names the reader in a header. */
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
    // Two values: the proxy has passed on the reader's own header.
    const isNamed = given.length === 1 && given[0]?.trim() !== '';
    return isNamed && this.#isTrusted(peerOf(incoming));
  }

  admit(incoming: IncomingMessage): Response | null {
    if (this.knows(incoming)) return null;
    return ownPage(incoming, {
      status: 401,
      words: 'notSignedIn',
      // RFC 9110, section 11.6.1, wants a challenge; browsers pass over a scheme that they do not know.
      headers: { 'WWW-Authenticate': 'Proxy-Header realm="Documentation"' },
    });
  }
}

/** A way in which readers sign in (contract, section 9.7). */
export interface SignIn {
  /** The fields of a request that decide, as `Vary` names them. */
  readonly vary: string;
  /**
   * Null if the reader may read. Else a response that shows nothing of the site, or a page of the sign-in itself.
   * @param target below the base path
   * @param begins false: no sign-in is begun, since there is something to see without
   */
  admit(incoming: IncomingMessage, target: string, begins?: boolean): Response | null | Promise<Response | null>;
  /** True if `admit` would let the reader of a GET read, as far as that is known without waiting. */
  knows(incoming: IncomingMessage): boolean;
  /** True of the addresses that the sign-in answers itself. */
  isOwn?(target: string): boolean;
}

/** Paths of the provider's redirect and of the sign-out, below the base path, without the first slash. */
export const CALLBACK = '_docshelf/sign-in/callback';
export const SIGN_OUT = '_docshelf/sign-out';

/** @param target below the base path */
export function isSignInAddress(target: string): boolean {
  const [path = ''] = target.slice(1).split('?', 1);
  return path === CALLBACK || path === SIGN_OUT;
}

/** Events of readers whose sign-in fails. */
export interface SignInEvents {
  /** A wrong password or token; once for each request. */
  onWrong(): void;
  /** A sign-in that a provider began and did not end well. */
  onRefused(error: DocshelfError): void;
}
