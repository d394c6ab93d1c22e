import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { TLSSocket } from 'node:tls';
import { util } from 'undici';

interface OriginFacts {
  /** Milliseconds by which the server's clock is ahead of docshelf's clock. Null if the server sends no Date header. */
  readonly aheadMs: number | null;
  /** End of the certificate's validity, in milliseconds since 1970. Null without TLS. */
  readonly certificateEndsAtMs: number | null;
}

interface Exchanged {
  readonly request: { readonly origin?: string | URL | null };
  readonly socket?: unknown;
  readonly response?: { readonly headers: readonly Buffer[] };
}

/** Collects facts about servers from the requests of undici, until the object is disposed. */
export class ExchangeWatch {
  /** Clock and certificate data by origin (`https://host`), in the order of first contact. */
  readonly facts = new Map<string, OriginFacts>();
  readonly #onSent = (message: unknown): void => this.#sawSocket(message as Exchanged);
  readonly #onHeaders = (message: unknown): void => this.#sawHeaders(message as Exchanged);

  constructor() {
    subscribe('undici:client:sendHeaders', this.#onSent);
    subscribe('undici:request:headers', this.#onHeaders);
  }

  [Symbol.dispose](): void {
    unsubscribe('undici:client:sendHeaders', this.#onSent);
    unsubscribe('undici:request:headers', this.#onHeaders);
  }

  #sawSocket({ request, socket }: Exchanged): void {
    if (!(socket instanceof TLSSocket)) return;
    const endsAtMs = Date.parse(socket.getPeerCertificate().valid_to);
    if (!Number.isNaN(endsAtMs)) this.#learn(request, { certificateEndsAtMs: endsAtMs });
  }

  #sawHeaders({ request, response }: Exchanged): void {
    const { date, age } = util.parseHeaders([...(response?.headers ?? [])]);
    const atMs = Date.parse(String(date));
    // Ignore cached responses, which have an Age, because their Date is in the past (RFC 9110, section 6.6.1).
    if (!Number.isNaN(atMs) && age === undefined) this.#learn(request, { aheadMs: atMs - Date.now() });
  }

  #learn(request: Exchanged['request'], facts: Partial<OriginFacts>): void {
    const origin = String(request.origin ?? '').replace(/\/$/, '');
    const known = this.facts.get(origin) ?? { aheadMs: null, certificateEndsAtMs: null };
    this.facts.set(origin, { ...known, ...facts });
  }
}
