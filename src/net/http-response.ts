import type { Dispatcher } from 'undici';
import type { Secret } from '../domain/secret.ts';
import { bodyFault, type RequestFacts } from './http-faults.ts';

/** What an exchange keeps alive besides its socket: the caller's signal and the timer of the whole transfer. */
export interface Exchange {
  readonly signal: AbortSignal;
  end(): void;
}

/** An answer whose body has not been read. Read `stream` or `text` to its end, or `close` it: a socket hangs on it. */
export class HttpResponse {
  readonly status: number;
  /** Where the answer came from, after redirects. */
  readonly link: Secret;
  readonly #answer: Dispatcher.ResponseData;
  readonly #facts: RequestFacts;
  readonly #exchange: Exchange;

  constructor(answer: Dispatcher.ResponseData, link: Secret, facts: RequestFacts, exchange: Exchange) {
    this.status = answer.statusCode;
    this.link = link;
    this.#answer = answer;
    this.#facts = facts;
    this.#exchange = exchange;
    // An error that nobody waits for (the body is closed unread) must not end the process.
    answer.body.on('error', () => {});
  }

  /** A header by its lower-case name; one that came several times joined by `, ` (RFC 9110 section 5.3). */
  header(name: string): string | null {
    const value = this.#answer.headers[name];
    return Array.isArray(value) ? value.join(', ') : (value ?? null);
  }

  /**
   * The body's bytes as they were sent, never decoded. Once only.
   *
   * @throws DocshelfError `source_truncated`, `source_timeout`; the signal's reason where that aborts.
   */
  async *stream(): AsyncGenerator<Uint8Array, void, void> {
    let receivedBytes = 0;
    try {
      for await (const chunk of this.#answer.body as AsyncIterable<Uint8Array>) {
        receivedBytes += chunk.length;
        yield chunk;
      }
    } catch (error) {
      this.#exchange.signal.throwIfAborted();
      throw bodyFault(error, this.#facts, receivedBytes);
    } finally {
      this.close();
    }
  }

  /** The beginning of the body as text, at most `bytesMax` bytes; ends the exchange. */
  async text(bytesMax: number): Promise<string> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of this.stream()) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= bytesMax) break;
    }
    return Buffer.concat(chunks).subarray(0, bytesMax).toString('utf8');
  }

  /** Ends the exchange, whole or not; its socket is closed unless the body was read to its end. */
  close(): void {
    this.#exchange.end();
    this.#answer.body.destroy();
  }
}
