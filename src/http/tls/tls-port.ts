import { X509Certificate } from 'node:crypto';
import type { Server } from 'node:http';
import { isIP, type Socket } from 'node:net';
import {
  createSecureContext,
  createServer,
  type SecureContext,
  type SecureContextOptions,
  type Server as TlsServer,
} from 'node:tls';
import type { HttpBindings } from '@hono/node-server';
import { bareHost, urlHost } from '../../domain/egress.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { requestIdOf } from '../listener/request.ts';
import { problemResponse } from '../problem.ts';
import { Http2Endpoint, type Http2Options } from './http2-endpoint.ts';

interface RedirectTarget {
  readonly port: number;
  /** Public URL. Redirects use its port, and its host if no certificate has the requested host. Null uses the listener's port. */
  readonly publicUrl: () => string | null;
  /** Redirects keep only a requested host that a certificate contains, because a client controls the Host header. */
  readonly isCertifiedFor: (host: string) => boolean;
}

/** Redirects with `no-cache`, because browsers otherwise keep a 308 for ever. */
export function redirectAnswer(target: RedirectTarget): (request: Request, env: HttpBindings) => Response {
  return (request, env) => {
    const host = bareHost(new URL(request.url).hostname);
    const written = target.publicUrl();
    const publicUrl = written?.startsWith('https:') ? new URL(written) : null;
    const port = publicUrl?.port ?? String(target.port);
    const origin = target.isCertifiedFor(host)
      ? `https://${urlHost(host)}${port === '' || port === '443' ? '' : `:${port}`}`
      : publicUrl?.origin;
    if (origin === undefined) return problemResponse(noName(host), requestIdOf(env));
    return new Response(null, {
      status: 308,
      headers: { Location: origin + env.incoming.url, 'Cache-Control': 'no-cache' },
    });
  };
}

function noName(host: string): DocshelfError {
  return new DocshelfError(
    'misdirected',
    `Cannot redirect "${host}" to HTTPS: no certificate contains this host name`,
    {
      next: 'Use a host name of the certificate. The operator can add a certificate for this name, or set publicUrl of the listener.',
    },
  );
}

/** Key and certificate chain in PEM. The server's certificate comes first. The config check ensures that both belong together. */
export interface KeyPair {
  readonly chain: string;
  readonly key: Secret;
}

export interface TlsSettings {
  /** Keys with their certificates. The first pair also serves clients that request no name, or a name without a certificate. */
  readonly pairs: readonly KeyPair[];
  readonly http2: boolean;
  /** Maximum age in Strict-Transport-Security, in ms. Null omits this header from responses. */
  readonly hstsMs: number | null;
}

/** Minimum version of TLS, because RFC 8996 deprecates TLS 1.0 and TLS 1.1. */
const MIN_VERSION = 'TLSv1.2';

interface Served {
  readonly certificate: X509Certificate;
  readonly context: SecureContext;
}

export function isCertifiedFor(certificate: X509Certificate, host: string): boolean {
  try {
    return (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;
  } catch {
    // OpenSSL throws an error for an invalid host name. Ignore the error, because no certificate contains such a name.
    return false;
  }
}

function servedBy(settings: TlsSettings): readonly Served[] {
  return settings.pairs.map((pair) => ({
    certificate: new X509Certificate(pair.chain),
    context: createSecureContext(contextOptions(pair)),
  }));
}

function fallbackOf({ pairs: [first] }: TlsSettings): SecureContextOptions {
  return first === undefined ? {} : contextOptions(first);
}

function contextOptions({ chain, key }: KeyPair): SecureContextOptions {
  return { cert: chain, key: key.reveal(), minVersion: MIN_VERSION };
}

const textsOf = ({ pairs }: TlsSettings): string =>
  JSON.stringify(pairs.map(({ chain, key }) => [chain, key.reveal()]));

interface TlsPortOptions {
  readonly handshakeMsMax: number;
  readonly http2: Http2Options;
  readonly onPlain: (socket: Socket) => void;
}

/** First byte of a TLS record with a handshake (RFC 8446, section 5.1). */
const HANDSHAKE = 0x16;

/** Adds TLS to the port of a plain server. The plain server gets each connection after its TLS handshake. */
export class TlsPort {
  readonly http2: Http2Endpoint;
  readonly #tls: TlsServer;
  readonly #open = new Set<Socket>();
  readonly #silent = new Set<Socket>();
  #settings: TlsSettings;
  #served: readonly Served[];
  #isDraining = false;

  constructor(server: Server, settings: TlsSettings, options: TlsPortOptions) {
    this.#settings = settings;
    this.#served = servedBy(settings);
    this.http2 = new Http2Endpoint(options.http2);
    this.#tls = createServer({
      ...fallbackOf(settings),
      handshakeTimeout: options.handshakeMsMax,
      SNICallback: (name, choose) => choose(null, (this.#certifiedFor(name) ?? this.#served[0])?.context),
      ALPNCallback: ({ protocols }) => {
        const offered = this.#settings.http2 ? ['h2', 'http/1.1'] : ['http/1.1'];
        return offered.find((protocol) => protocols.includes(protocol));
      },
    });
    const takers = server.listeners('connection');
    this.#tls.on('secureConnection', (socket) => {
      if (this.#isDraining) socket.destroy();
      else if (socket.alpnProtocol === 'h2') this.http2.accept(socket);
      else for (const take of takers) take.call(server, socket);
    });
    // Destroy the socket, because Node keeps a connection open if its handshake takes too long.
    this.#tls.on('tlsClientError', (_, socket) => socket.destroy());
    server.removeAllListeners('connection');
    server.on('connection', (socket) => this.#meet(socket, options));
  }

  get hsts(): string | null {
    const { hstsMs } = this.#settings;
    return hstsMs === null ? null : `max-age=${Math.floor(hstsMs / 1000)}`;
  }

  covers(host: string): boolean {
    return this.#certifiedFor(host) !== undefined;
  }

  /** Applies the settings to new connections. Open connections keep their certificates. @throws Error of OpenSSL */
  use(settings: TlsSettings): void {
    // Keep the TLS contexts if the certificates are the same, because new contexts would prevent the resumption of TLS sessions.
    if (textsOf(settings) !== textsOf(this.#settings)) {
      this.#served = servedBy(settings);
      this.#tls.setSecureContext(fallbackOf(settings));
    }
    this.#settings = settings;
  }

  #certifiedFor(host: string): Served | undefined {
    return this.#served.find(({ certificate }) => isCertifiedFor(certificate, host));
  }

  /** Destroys connections on which the client has sent nothing yet. Handshakes in progress can finish within their time limit. */
  drain(): void {
    this.#isDraining = true;
    for (const socket of this.#silent) socket.destroy();
    this.http2.drain();
  }

  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #meet(socket: Socket, { handshakeMsMax, onPlain }: TlsPortOptions): void {
    const late = setTimeout(() => socket.destroy(), handshakeMsMax);
    const heard = (): void => {
      clearTimeout(late);
      this.#silent.delete(socket);
    };
    this.#open.add(socket);
    this.#silent.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      heard();
      this.#open.delete(socket);
    });
    socket.once('readable', () => {
      heard();
      const first: Buffer | null = socket.read(1);
      if (first === null) {
        socket.destroy();
        return;
      }
      socket.unshift(first);
      if (first[0] === HANDSHAKE) this.#tls.emit('connection', socket);
      else onPlain(socket);
    });
  }
}
