import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, errors } from 'undici';
import { DocshelfError, type ErrorCode } from '../domain/errors.ts';
import type { Secret } from '../domain/secret.ts';
import { counted } from '../domain/text.ts';
import { CERTIFICATE_FAULT } from './certificates.ts';

export interface RequestFacts {
  /** Link in quotes, without its query, for error messages: `"https://host/path"`. */
  readonly thing: string;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

interface Fault {
  readonly code: ErrorCode;
  readonly state: string;
  readonly retryable: boolean;
  readonly next: string;
}

const NETWORK_NEXT =
  'Check the host name, the network, and network.proxy. docshelf continues to serve the current version.';
const ADDRESS_NEXT =
  'If the address is correct, allow it. For a bundle, set network.allowPrivate. For a crawl, add the address to allowAddresses of the source. For a host name that only a proxy can resolve, add the name to network.allowedHosts. docshelf never contacts the metadata services of clouds.';
const PORT_NEXT = 'Check the port, and whether the address must begin with https or http.';
const CERTIFICATE_NEXT =
  'If the server uses your own certificate authority, put the certificate of the authority into a PEM file. Then set network.caFile to that file.';

export const requestFault = (error: unknown, facts: RequestFacts): DocshelfError =>
  asError(timeoutOf(error, facts) ?? connectionFault(error), error, facts, {});

export function bodyFault(error: unknown, facts: RequestFacts, receivedBytes: number): DocshelfError {
  const fault = timeoutOf(error, facts) ?? {
    code: 'source_truncated' as const,
    state: `the transfer was cut off after ${counted(receivedBytes, 'byte')}`,
    retryable: true,
    next: 'Try again. If it fails each time, check the server and the proxies between it and docshelf.',
  };
  return asError(fault, error, facts, { receivedBytes });
}

function timeoutOf(error: unknown, { connectTimeoutMs, idleTimeoutMs }: RequestFacts): Fault | null {
  const states: Readonly<Record<string, string>> = {
    UND_ERR_CONNECT_TIMEOUT: `the connection was not established within ${connectTimeoutMs / 1000} s`,
    ETIMEDOUT: 'the connection timed out',
    UND_ERR_HEADERS_TIMEOUT: `the server sent no response for ${idleTimeoutMs / 1000} s`,
    UND_ERR_BODY_TIMEOUT: `the server sent no data for ${idleTimeoutMs / 1000} s`,
  };
  const state = states[codeOf(error)];
  return state === undefined ? null : { code: 'source_timeout', state, retryable: true, next: NETWORK_NEXT };
}

/** Errors to retry. Includes ENOTFOUND, because a name service can start after the containers that need it. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  ENOTFOUND: 'DNS does not know the host name (ENOTFOUND)',
  EAI_AGAIN: 'DNS does not respond (EAI_AGAIN)',
  ECONNREFUSED: 'no server listens on this address (ECONNREFUSED)',
};

function connectionFault(error: unknown): Fault {
  const code = codeOf(error);
  const final = (state: string, next: string, fault: ErrorCode = 'source_unreachable'): Fault => {
    return { code: fault, state, retryable: false, next };
  };
  if (code === 'ADDRESS_REFUSED') return final(messageOf(error), ADDRESS_NEXT, 'address_not_allowed');
  if (CERTIFICATE_FAULT.test(code))
    return final(`docshelf does not trust the certificate of the server (${messageOf(error)})`, CERTIFICATE_NEXT);
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return final(`the server does not speak TLS on this port (${code})`, PORT_NEXT);
  if (error instanceof errors.HTTPParserError)
    return final('the server does not speak HTTP on this port', PORT_NEXT, 'source_failed');
  const state = UNREACHABLE[code] ?? `the connection failed (${messageOf(error)})`;
  return { code: 'source_unreachable', state, retryable: true, next: NETWORK_NEXT };
}

function asError(fault: Fault, error: unknown, facts: RequestFacts, fields: Record<string, unknown>): DocshelfError {
  return new DocshelfError(fault.code, `Cannot fetch ${facts.thing}: ${fault.state}`, {
    next: fault.next,
    fields: { ...fields, retryable: fault.retryable },
    cause: causeWithoutSecrets(error),
  });
}

/** Code of an error, or an empty text. Node gives an `AggregateError` the code of its first error. */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return codeOf(error) || messageOf(error.errors[0]);
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\?[^\s"'<>]+/g, '?[redacted]');
}

/** Removes sockets and received bytes from an error of undici, because they can contain the query of the link. */
function causeWithoutSecrets(error: unknown): Error {
  const cause = new Error(messageOf(error));
  cause.name = error instanceof Error ? error.name : 'Error';
  delete cause.stack;
  return Object.assign(cause, { code: codeOf(error) });
}

const ADDRESSES: ReadonlySet<string> = new Set(['location', 'refresh', 'link']);

/**
 * Decodes a header value. Percent-encodes bytes over 127 in URLs, as browsers do. Reads file names as UTF-8.
 * @param name header name in lower case
 */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  const text = Array.isArray(value) ? value.join(', ') : (value ?? null);
  if (text === null || !/[\x80-\xff]/.test(text)) return text;
  if (ADDRESSES.has(name))
    return text.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  const bytes = Buffer.from(text, 'latin1');
  return name === 'content-disposition' && isUtf8(bytes) ? bytes.toString('utf8') : text;
}

export type Exchange = { readonly signal: AbortSignal; end(): void };

/** Response whose body is not read yet. Callers must read the body to its end or call `close`. Otherwise, the socket stays open. */
export class HttpResponse {
  readonly status: number;
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
    // Ignore later errors of the body. Without an `error` listener, an error after `close` would end the process.
    answer.body.on('error', () => {});
  }

  header(name: string): string | null {
    return headerOf(this.#answer.headers, name);
  }

  /** Raw body, which can be read once. @throws DocshelfError `source_truncated`, `source_timeout`; the signal's reason */
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

  /** Discards the rest of the body. Closes the socket, unless the body was read to its end. */
  close(): void {
    this.#exchange.end();
    this.#answer.body.destroy();
  }
}
