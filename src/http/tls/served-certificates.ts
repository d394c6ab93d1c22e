import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext, type SecureContextOptions, type Server } from 'node:tls';
import type { Secret } from '../../domain/secret.ts';

/** PEM, the chain with the server's own certificate first. That they fit is a rule of the config. */
export interface KeyPair {
  readonly chain: string;
  readonly key: Secret;
}

export interface TlsSettings {
  /** The first is for clients that name no server, or one that no certificate is for. */
  readonly pairs: readonly KeyPair[];
  readonly http2: boolean;
  /** Null: no Strict-Transport-Security. */
  readonly hstsMs: number | null;
}

/** RFC 8996: nothing older is fit for use. */
const MIN_VERSION = 'TLSv1.2';

interface Served {
  readonly certificate: X509Certificate;
  readonly context: SecureContext;
}

/** Certificates of one listener. New ones are for new connections; those that are open go on with theirs. */
export class ServedCertificates {
  #settings: TlsSettings;
  #served: readonly Served[] = [];
  /** By asked name, which is a client's to choose: as many as fit, then anew. */
  readonly #byName = new Map<string, SecureContext>();

  constructor(settings: TlsSettings) {
    this.#settings = settings;
    this.#served = servedBy(settings);
  }

  get settings(): TlsSettings {
    return this.#settings;
  }

  /** For one who names no server. */
  get fallback(): SecureContextOptions {
    const [first] = this.#settings.pairs;
    return first === undefined ? {} : contextOptions(first);
  }

  /** @throws Error of OpenSSL, and serves on what it did */
  use(settings: TlsSettings, server: Server): void {
    const served = servedBy(settings);
    const isSame = sameTexts(settings, this.#settings);
    this.#settings = settings;
    // New contexts end what sessions could be resumed.
    if (isSame) return;
    this.#served = served;
    this.#byName.clear();
    server.setSecureContext(this.fallback);
  }

  contextFor(name: string): SecureContext | undefined {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const found = this.#served.find(({ certificate }) => isCertifiedFor(certificate, name)) ?? this.#served[0];
    if (this.#byName.size >= NAMES_MAX) this.#byName.clear();
    if (found !== undefined) this.#byName.set(name, found.context);
    return found?.context;
  }

  /** A name or an address that one of the certificates is for. */
  covers(host: string): boolean {
    return this.#served.some(({ certificate }) => isCertifiedFor(certificate, host));
  }
}

/** 100 bytes each. */
const NAMES_MAX = 1_000;

export function isCertifiedFor(certificate: X509Certificate, host: string): boolean {
  try {
    return (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;
  } catch {
    // OpenSSL's word for what is no name.
    return false;
  }
}

function servedBy(settings: TlsSettings): readonly Served[] {
  return settings.pairs.map((pair) => ({
    certificate: new X509Certificate(pair.chain),
    context: createSecureContext(contextOptions(pair)),
  }));
}

function contextOptions({ chain, key }: KeyPair): SecureContextOptions {
  return { cert: chain, key: key.reveal(), minVersion: MIN_VERSION };
}

function sameTexts(one: TlsSettings, other: TlsSettings): boolean {
  return textsOf(one) === textsOf(other);
}

const textsOf = ({ pairs }: TlsSettings): string =>
  JSON.stringify(pairs.map(({ chain, key }) => [chain, key.reveal()]));
