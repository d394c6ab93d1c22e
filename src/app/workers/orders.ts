import type { KeptFacts, ReleaseFacts } from '../../deploy/releases/release-tables.ts';
import type { PlainError } from '../../domain/errors.ts';
import type { SiteAddress } from '../../http/site/route-site.ts';
import type { SnapshotForm } from '../../serve/index.ts';

/** Plain data between the daemon and the processes that serve for it. */

/** A site as it is to be served; its tables are read from disk. */
export interface SiteOrder {
  readonly release: ReleaseFacts;
  readonly older: readonly KeptFacts[];
  readonly form: SnapshotForm;
}

export interface StampedOrder {
  /** The site's domain; empty for the one of the single form. */
  readonly key: string;
  /** The later of two counts, whichever is carried out first. */
  readonly stamp: number;
  /** Null: the daemon answers for the site. */
  readonly order: SiteOrder | null;
}

export interface ServedPlace extends SiteAddress {
  /** Its readers sign in, with the daemon. */
  readonly isGuarded: boolean;
  /** Assistants are answered, by the daemon. */
  readonly hasMcp: boolean;
}

export interface ServedPlaces {
  readonly stamp: number;
  /** One site answers every host. */
  readonly isList: boolean;
  /** Each request has a line in the log. */
  readonly isLogged: boolean;
  readonly places: readonly ServedPlace[];
}

/** Takes effect as a whole. */
export interface UseOrder {
  readonly sites: readonly (StampedOrder & { readonly prepared?: number })[];
  readonly places: ServedPlaces | null;
  /** For new connections. */
  readonly tls: TlsOrder | null;
}

/** Certificates and keys in PEM: they never leave the machine, nor the pipe between parent and child. */
export interface TlsOrder {
  readonly pairs: readonly { readonly chain: string; readonly key: string }[];
  readonly http2: boolean;
  readonly hstsMs: number | null;
  /** Of session tickets, in Base64. */
  readonly ticketKeys: string;
}

export interface ListenOrder {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsOrder | null;
  readonly stopMs: number;
}

export interface OpenedPort {
  readonly url: string;
  readonly port: number;
  readonly address: string;
}

/** Since the last one. */
export interface ServingReport {
  /** Domains, undefined for the site of the single form and for what is no site's. */
  readonly sites: readonly (string | undefined)[];
  /** For each request the place of its site among those, its status, its bytes and its milliseconds. */
  readonly requests: Float64Array;
  /** Of the access log. */
  readonly lines: Uint8Array;
  /** Files answered from memory, and those that had to be read, by key of the site. */
  readonly cache: readonly (readonly [key: string, hits: number, misses: number])[];
}

export interface ServingFault {
  readonly key: string | null;
  readonly step: string;
  readonly error: PlainError;
  readonly requestId: string | null;
}

/** What a serving process asks of the daemon. */
export interface DaemonCalls {
  report(report: ServingReport): void;
  fault(fault: ServingFault): void;
  /** Resolves when another process serves in its place. */
  leave(order: null): Promise<void>;
}
