import type { IncomingMessage } from 'node:http';
import { peerOf, trustedPeers } from '../listener/remote-address.ts';
import { ownPage } from './own-page.ts';
import type { SignIn } from './sign-in.ts';

interface TrustedHeaderOptions {
  readonly name: string;
  /** Addresses and networks in CIDR notation; from any other the header says nothing. */
  readonly trustedProxies: readonly string[];
}

/** A proxy has signed the reader in, and names him in a header. */
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
    // Twice: the proxy has let the reader's own through beside it.
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
