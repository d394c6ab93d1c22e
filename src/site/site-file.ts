import { join } from 'node:path';
import type { AnswerHeaders } from '../domain/own-headers.ts';
import { type FileEntry, type FileTable, isPage, type ReleaseView } from '../domain/release.ts';
import { isCompressibleType } from '../web/media-type.ts';
import type { ExtraHeaders } from './answer-headers.ts';
import type { Body } from './body-cache.ts';
import { COMPRESSED_BYTES_MIN, type Coding, type Encoding, FORMS, type Form, negotiateEncoding } from './encoding.ts';
import type { Validators } from './preconditions.ts';
import { decodesTo, SIBLING_EXTENSION, type Sibling } from './sibling.ts';
import { type FastAnswer, flatHeaders, readSiteFile, type SiteFileOnDisk } from './site-bytes.ts';

const ETAG_DIGITS = 32;
/**
 * Number of digits of a compressed file's digest to add to its entity tag, because two compressors can write different bytes for
 * the same content.
 */
const SIBLING_TAG_DIGITS = 8;
const YEAR_S = 365 * 24 * 3600;

export class SiteFile implements SiteFileOnDisk {
  readonly path: string;
  readonly type: string;
  readonly sha256: string;
  readonly size: number;
  readonly diskPath: string;
  readonly isTransformed: boolean;
  readonly isPage: boolean;
  readonly sent: ExtraHeaders;
  readonly releaseDir: string;
  readonly #siblings: { [coding in Coding]?: Promise<Sibling | null> } = {};
  readonly #siteDir: string;
  readonly #files: FileTable | null;
  readonly #read: () => Promise<Buffer<ArrayBuffer>>;
  readonly #lastModifiedMs: number;
  readonly #cacheControl: string;
  readonly #mayShrink: boolean;
  readonly #whole: { [tag: string]: readonly string[] } = {};
  readonly #notModified: { [tag: string]: readonly string[] } = {};

  /** @param isImmutable true if the file never changes @param make function that creates the bytes of a file that is not on disk */
  constructor(
    entry: FileEntry,
    release: Pick<ReleaseView, 'releaseDir' | 'siteDir' | 'createdAt'>,
    sent: ExtraHeaders,
    isImmutable: boolean,
    make: (() => Promise<Buffer<ArrayBuffer>>) | null = null,
    files: FileTable | null = null,
  ) {
    this.path = entry.path;
    this.type = entry.type;
    this.sha256 = entry.sha256;
    this.size = entry.size;
    this.diskPath = join(release.siteDir, entry.path);
    this.releaseDir = release.releaseDir;
    this.#siteDir = release.siteDir;
    this.#files = files;
    this.sent = sent;
    this.isTransformed = make !== null;
    this.isPage = isPage(entry.path);
    this.#mayShrink = this.size >= COMPRESSED_BYTES_MIN && isCompressibleType(this.type);
    this.#read = make ?? (() => readSiteFile(this));
    // `Last-Modified` has whole seconds, and must not be later than the response (RFC 9110, sections 5.6.7 and 8.8.2.1).
    const modifiedMs = Math.min(Date.parse(release.createdAt), Date.now());
    this.#lastModifiedMs = Math.floor(modifiedMs / 1000) * 1000;
    this.#cacheControl = cacheControlOf(isImmutable, sent.cacheControl);
  }

  read(): Promise<Buffer<ArrayBuffer>> {
    return this.#read();
  }

  encodingFor(acceptEncoding: string | undefined): Encoding {
    return this.#mayShrink ? negotiateEncoding(acceptEncoding) : 'identity';
  }

  /** Finds a compressed file in the bundle. Null if it is missing or decodes to other bytes. Checks the file once. Never rejects. */
  findSibling(coding: Coding): Promise<Sibling | null> {
    const found = this.#siblings[coding] ?? this.#checkSibling(coding);
    this.#siblings[coding] = found;
    return found;
  }

  async #checkSibling(coding: Coding): Promise<Sibling | null> {
    const entry = this.isTransformed ? undefined : this.#files?.get(`${this.path}${SIBLING_EXTENSION[coding]}`);
    if (entry === undefined || entry.size >= this.size) return null;
    const onDisk = { diskPath: join(this.#siteDir, entry.path), size: entry.size };
    const tag = `${FORMS[coding].tag}-${entry.sha256.slice(0, SIBLING_TAG_DIGITS)}`;
    return (await decodesTo(this, onDisk, coding)) ? { onDisk, encoding: coding, tag } : null;
  }

  etag({ tag }: Form): string {
    return `"${this.sha256.slice(0, ETAG_DIGITS)}${tag}"`;
  }

  bodyKey(encoding: Encoding): string {
    return `${this.sha256}${encoding}`;
  }

  validators(form: Form): Validators {
    return { etag: this.etag(form), lastModifiedMs: this.#lastModifiedMs };
  }

  /** Headers that a 304 response repeats from the 200 response (RFC 9110, section 15.4.5). */
  validatorHeaders(form: Form): AnswerHeaders {
    return {
      ETag: this.etag(form),
      'Last-Modified': new Date(this.#lastModifiedMs).toUTCString(),
      'Cache-Control': this.#cacheControl,
      Vary: 'Accept-Encoding',
      // Repeat configured headers, because the operator may have changed them, and caches take new headers from a 304 response.
      ...this.sent.headers,
    };
  }

  /** Headers of a 200 response. @param bytes length of the body, or null if the length is not known yet */
  headers(form: Form, bytes: number | null): AnswerHeaders {
    const { encoding } = form;
    return {
      'Content-Type': this.type,
      ...(bytes === null ? {} : { 'Content-Length': String(bytes) }),
      ...(encoding === 'identity' ? {} : { 'Content-Encoding': encoding }),
      ...this.validatorHeaders(form),
      'Accept-Ranges': 'bytes',
    };
  }

  whole(body: Body): FastAnswer {
    const { tag, bytes } = body;
    const headers = this.#whole[tag] ?? flatHeaders(this.headers(body, bytes.length));
    this.#whole[tag] = headers;
    return { status: 200, headers, body: bytes };
  }

  /** 404 response without an entity tag, because a 404 is never `not modified`. */
  missing({ encoding, bytes }: Body): FastAnswer {
    const headers = flatHeaders({
      'Content-Type': this.type,
      'Content-Length': String(bytes.length),
      ...(encoding === 'identity' ? {} : { 'Content-Encoding': encoding }),
      'Cache-Control': 'no-cache',
      Vary: 'Accept-Encoding',
      ...this.sent.headers,
    });
    return { status: 404, headers, body: bytes };
  }

  notModified(form: Form): FastAnswer {
    const headers = this.#notModified[form.tag] ?? flatHeaders(this.validatorHeaders(form));
    this.#notModified[form.tag] = headers;
    return { status: 304, headers, body: null };
  }
}

const IMMUTABLE = /(?:^|[\s,])immutable(?:[\s,]|$)/i;

/** Value of `Cache-Control`. Replaces `immutable` of the site or operator for a file that may change. */
function cacheControlOf(isImmutable: boolean, written: string | null): string {
  if (written !== null && (isImmutable || !saysImmutable(written))) return written;
  return isImmutable ? `public, max-age=${YEAR_S}, immutable` : 'no-cache';
}

export function saysImmutable(cacheControl: string | null): boolean {
  return cacheControl !== null && IMMUTABLE.test(cacheControl);
}
