import { join } from 'node:path';
import type { FileEntry, ReleaseView } from '../domain/release.ts';
import { isCompressibleType } from '../web/compressible.ts';
import { type Encoding, ETAG_SUFFIX, negotiateEncoding } from './encoding.ts';
import type { Validators } from './preconditions.ts';
import { readSiteFile, type SiteFileOnDisk } from './site-bytes.ts';

export type AnswerHeaders = Readonly<Record<string, string>>;

export const COMMON_HEADERS: AnswerHeaders = { 'X-Content-Type-Options': 'nosniff' };

/** Hex digits of the SHA-256 in an entity tag: 128 bits. */
const ETAG_DIGITS = 32;
/** Smaller files fit one packet: compression would save nothing. */
const COMPRESSED_BYTES_MIN = 1024;
const YEAR_S = 365 * 24 * 3600;

export class SiteFile implements SiteFileOnDisk {
  readonly path: string;
  readonly type: string;
  readonly sha256: string;
  readonly size: number;
  readonly diskPath: string;
  /** True where the bytes are made of those on disk. */
  readonly isMade: boolean;
  readonly #read: () => Promise<Buffer<ArrayBuffer>>;
  readonly #lastModifiedMs: number;
  readonly #cacheControl: string;
  readonly #headers: { [encoding in Encoding]?: AnswerHeaders } = {};

  /**
   * @param entry of the bytes that are sent
   * @param isImmutable true where no release has other bytes under this name
   * @param make those bytes, where they are not the ones on disk
   */
  constructor(
    entry: FileEntry,
    release: Pick<ReleaseView, 'siteDir' | 'createdAt'>,
    isImmutable: boolean,
    make: (() => Promise<Buffer<ArrayBuffer>>) | null = null,
  ) {
    this.path = entry.path;
    this.type = entry.type;
    this.sha256 = entry.sha256;
    this.size = entry.size;
    this.diskPath = join(release.siteDir, entry.path);
    this.isMade = make !== null;
    this.#read = make ?? (() => readSiteFile(this));
    // HTTP dates have no fractions (RFC 9110, section 5.6.7).
    this.#lastModifiedMs = Math.floor(Date.parse(release.createdAt) / 1000) * 1000;
    this.#cacheControl = isImmutable ? `public, max-age=${YEAR_S}, immutable` : 'no-cache';
  }

  /** Whole. @throws DocshelfError `cannot_read`, `release_damaged` */
  read(): Promise<Buffer<ArrayBuffer>> {
    return this.#read();
  }

  /** The encoding to try; the bytes may still turn out not to shrink. */
  encodingFor(acceptEncoding: string | undefined): Encoding {
    if (this.size < COMPRESSED_BYTES_MIN || !isCompressibleType(this.type)) return 'identity';
    return negotiateEncoding(acceptEncoding);
  }

  validators(encoding: Encoding): Validators {
    return {
      etag: `"${this.sha256.slice(0, ETAG_DIGITS)}${ETAG_SUFFIX[encoding]}"`,
      lastModifiedMs: this.#lastModifiedMs,
    };
  }

  /** Headers of the 200 that a 304 repeats (RFC 9110, section 15.4.5). */
  validatorHeaders(encoding: Encoding): AnswerHeaders {
    return {
      ETag: this.validators(encoding).etag,
      'Last-Modified': new Date(this.#lastModifiedMs).toUTCString(),
      'Cache-Control': this.#cacheControl,
      Vary: 'Accept-Encoding',
    };
  }

  headers(encoding: Encoding, bytes: number): AnswerHeaders {
    const made = this.#headers[encoding];
    if (made !== undefined) return made;
    const headers = Object.freeze({
      'Content-Type': this.type,
      'Content-Length': String(bytes),
      ...(encoding === 'identity' ? {} : { 'Content-Encoding': encoding }),
      ...this.validatorHeaders(encoding),
      'Accept-Ranges': 'bytes',
      ...COMMON_HEADERS,
    });
    this.#headers[encoding] = headers;
    return headers;
  }
}
