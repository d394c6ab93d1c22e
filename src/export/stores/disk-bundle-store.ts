import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { create as attachment } from 'content-disposition';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import { membersOf } from '../../domain/shape.ts';
import { flushPath, ifThere, namesIn, writeOnce } from '../../files/index.ts';
import type { BundleLinkRequest, BundleStore, LinkedBundle, PackedBundle } from '../ports.ts';
import { bundleBytes, bundleGone, LINK_MS_MAX, linkSeconds } from './bundle-bytes.ts';

interface SigningKeysOptions {
  readonly dir: string;
  readonly rotateMs: number;
  readonly signedMsMax: number;
  readonly nowMs: () => number;
}

export interface SigningKey {
  /** Number of the key, counted from 1. The key with the highest number signs new links. */
  readonly id: string;
  readonly secret: KeyObject;
  readonly createdAtMs: number;
}

/** Bytes of a key. A key longer than the output of HMAC-SHA-256 is not significantly stronger (RFC 2104, section 3). */
const SECRET_BYTES = 32;
const ID = /^[1-9]\d{0,8}$/;
/** Assumed maximum difference between the clocks of processes on one data folder. */
const CLOCKS_APART_MS_MAX = 3600_000;

/**
 * Keys that sign links. All processes of a data folder share the keys. The two newest keys always stay, because a process with a
 * wrong clock can replace a key too early.
 */
export class SigningKeys {
  readonly #options: SigningKeysOptions;
  #newest: SigningKey | null = null;

  constructor(options: SigningKeysOptions) {
    this.#options = options;
  }

  async current(): Promise<SigningKey> {
    if (this.#newest === null || this.#isDue(this.#newest)) {
      const newestId = (await this.#ids()).at(-1);
      this.#newest = newestId === undefined ? null : await this.#read(newestId);
      if (this.#newest === null || this.#isDue(this.#newest)) {
        this.#newest = await this.#make(Number(this.#newest?.id ?? 0) + 1);
        await this.#removeUseless();
      }
    }
    return this.#newest;
  }

  async find(id: string): Promise<SigningKey | null> {
    if (!ID.test(id)) return null;
    return this.#newest?.id === id ? this.#newest : this.#read(id);
  }

  #isDue({ createdAtMs }: SigningKey): boolean {
    return this.#options.nowMs() - createdAtMs >= this.#options.rotateMs;
  }

  async #ids(): Promise<string[]> {
    const names = await namesIn(this.#options.dir);
    const ids = names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length));
    return ids.filter((id) => ID.test(id)).sort((a, b) => Number(a) - Number(b));
  }

  async #make(number: number): Promise<SigningKey> {
    const { dir, nowMs } = this.#options;
    const id = String(number);
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const text = `${JSON.stringify({ secret, createdAt: new Date(nowMs()).toISOString() })}\n`;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    // If another process has just written a key with the same number, use the key of that process.
    await writeOnce(this.#fileOf(id), text, 0o600);
    const made = await this.#read(id);
    if (made === null) throw damaged(this.#fileOf(id), 'it was removed right after it was created');
    return made;
  }

  /** Removes replaced keys when all links that they signed have expired, but always keeps the two newest keys. */
  async #removeUseless(): Promise<void> {
    const { signedMsMax, nowMs } = this.#options;
    const ids = await this.#ids();
    for (const [index, id] of ids.slice(0, -2).entries()) {
      const next = await this.#read(ids[index + 1] as string);
      const uselessAtMs = (next?.createdAtMs ?? Number.POSITIVE_INFINITY) + signedMsMax + CLOCKS_APART_MS_MAX;
      if (uselessAtMs < nowMs()) await rm(this.#fileOf(id), { force: true });
    }
  }

  async #read(id: string): Promise<SigningKey | null> {
    const file = this.#fileOf(id);
    const text = await readFile(file, 'utf8').catch((error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return null;
      throw damaged(file, (error as Error).message, error);
    });
    return text === null ? null : parseKey(id, text, file);
  }

  #fileOf(id: string): string {
    return join(this.#options.dir, `${id}.json`);
  }
}

function parseKey(id: string, text: string, file: string): SigningKey {
  const stored = membersOf<{ secret: unknown; createdAt: unknown }>(text);
  const secret = Buffer.from(String(stored.secret ?? ''), 'base64url');
  const createdAtMs = Date.parse(String(stored.createdAt));
  if (secret.length !== SECRET_BYTES || Number.isNaN(createdAtMs)) throw damaged(file, 'it is not complete JSON');
  return { id, secret: createSecretKey(secret), createdAtMs };
}

function damaged(file: string, state: string, cause?: unknown): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot read signing key "${file}": ${state}`, {
    next: 'Restore the file from a backup, or remove it. If you remove it, links that this key signed become invalid.',
    cause,
  });
}

interface DiskBundleStoreOptions {
  readonly dir: string;
  readonly publicUrl: () => string;
  readonly nowMs: () => number;
  readonly rotateKeysMs?: number;
}

const KEYS_ROTATE_MS = 7 * 24 * 3600_000;
const READ_BYTES = 256 * 1024;
const SHA256 = /^[0-9a-f]{64}$/;
/** Expiry of a link as Unix time in seconds. Leading zeros are invalid, so that a link has only one spelling. */
const EXPIRES = /^[1-9]\d{0,11}$/;
const QUERY_NAMES = 'expires,keyId,signature';
const AGAIN =
  'Call the bundle endpoint again (POST /v1/static-export/jobs/{jobId}/bundle). Each call returns a valid link.';

/**
 * Links to docshelf's API listener, `/v1/bundles/{sha256}/{fileName}?expires=…&keyId=…&signature=…`, survive restarts. To revoke
 * a link, remove its bundle, or remove its key from `link-keys/` before docshelf starts.
 */
export class DiskBundleStore implements BundleStore {
  readonly #options: DiskBundleStoreOptions;
  readonly #keys: SigningKeys;
  readonly #bundlesDir: string;

  constructor(options: DiskBundleStoreOptions) {
    const { dir, nowMs, rotateKeysMs = KEYS_ROTATE_MS } = options;
    this.#options = options;
    this.#bundlesDir = join(dir, 'bundles');
    const keysDir = join(dir, 'link-keys');
    this.#keys = new SigningKeys({ dir: keysDir, rotateMs: rotateKeysMs, signedMsMax: LINK_MS_MAX, nowMs });
  }

  async put(bundle: PackedBundle, signal: AbortSignal): Promise<void> {
    const { sha256, sizeBytes, file } = bundle;
    signal.throwIfAborted();
    if ((await this.#sizeOf(sha256)) !== sizeBytes) {
      for await (const _chunk of bundleBytes(bundle, READ_BYTES, signal));
      await flushPath(file);
      await mkdir(this.#bundlesDir, { recursive: true });
      signal.throwIfAborted();
      await rename(file, this.#pathOf(sha256));
    }
    // Flush the folder even if the bundle exists, because the process that stored it may have been killed before its flush.
    await flushPath(this.#bundlesDir);
  }

  async has(sha256: string): Promise<boolean> {
    return (await this.#sizeOf(sha256)) !== null;
  }

  async link({ sha256, fileName }: { readonly sha256: string; readonly fileName: string }, ttlMs: number) {
    const nowMs = this.#options.nowMs();
    const expiresS = Math.floor(nowMs / 1000) + linkSeconds(ttlMs, nowMs);
    const { id, secret } = await this.#keys.current();
    const signature = signatureOf(sha256, fileName, expiresS, secret);
    const path = `v1/bundles/${sha256}/${encodeURIComponent(fileName)}`;
    const query = `expires=${expiresS}&keyId=${id}&signature=${signature}`;
    const base = this.#options.publicUrl().replace(/\/+$/, '');
    return { url: `${base}/${path}?${query}`, expiresAt: new Date(expiresS * 1000) };
  }

  async follow({ sha256, fileName, query }: BundleLinkRequest): Promise<LinkedBundle> {
    const expires = query.get('expires') ?? '';
    const isWellFormed =
      [...query.keys()].sort().join() === QUERY_NAMES && EXPIRES.test(expires) && SHA256.test(sha256);
    if (!isWellFormed) throw invalid(fileName);
    const expiresS = Number(expires);
    const hasExpired = expiresS * 1000 <= this.#options.nowMs();
    const key = await this.#keys.find(query.get('keyId') ?? '');
    if (key === null && hasExpired) throw expired(fileName, expiresS);
    if (key === null) throw invalid(fileName);
    // Compare signatures in constant time. Compare them as text, because several base64url texts decode to the same bytes.
    const given = Buffer.from(query.get('signature') ?? '');
    const expected = Buffer.from(signatureOf(sha256, fileName, expiresS, key.secret));
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw invalid(fileName);
    if (hasExpired) throw expired(fileName, expiresS);
    const sizeBytes = await this.#sizeOf(sha256);
    if (sizeBytes === null) throw gone(fileName);
    const diskPath = this.#pathOf(sha256);
    return { sha256, sizeBytes, diskPath, contentType: CONTENT_TYPE, contentDisposition: attachment(fileName) };
  }

  async read(sha256: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    if (!(await this.has(sha256))) throw bundleGone(sha256);
    return createReadStream(this.#pathOf(sha256), { highWaterMark: READ_BYTES, signal });
  }

  async remove(sha256: string): Promise<void> {
    await rm(this.#pathOf(sha256), { force: true });
  }

  async close(): Promise<void> {}

  async #sizeOf(sha256: string): Promise<number | null> {
    return (await ifThere(stat(this.#pathOf(sha256))))?.size ?? null;
  }

  #pathOf(sha256: string): string {
    return join(this.#bundlesDir, `${sha256}.tar.gz`);
  }
}

const shown = (fileName: string): string => `"${fileName.slice(0, 200)}"`;

function invalid(fileName: string): DocshelfError {
  const state = 'the link is invalid or was changed';
  return new DocshelfError('link_invalid', `Cannot send ${shown(fileName)}: ${state}`, {
    next: `Use the complete, unchanged link, including its query. ${AGAIN}`,
  });
}

function expired(fileName: string, expiresS: number): DocshelfError {
  const end = new Date(expiresS * 1000).toISOString();
  return new DocshelfError('bundle_link_expired', `Cannot send ${shown(fileName)}: the link has expired at ${end}`, {
    next: AGAIN,
    fields: { expiresAt: end },
  });
}

function gone(fileName: string): DocshelfError {
  return new DocshelfError('not_found', `Cannot send ${shown(fileName)}: its archive no longer exists`, {
    next: `${AGAIN} docshelf then packs the archive again.`,
  });
}

const CONTENT_TYPE = 'application/gzip';
/** First field of the signed bytes, so that a signature is not valid for other data that the same key signs. */
const PURPOSE = 'docshelf bundle link, version 1';
/** Second field of the signed bytes. The signature for GET also permits HEAD, whose response contains no additional data. */
const METHOD = 'GET';

function signatureOf(sha256: string, fileName: string, expiresS: number, secret: KeyObject): string {
  const hmac = createHmac('sha256', secret);
  const object = `bundles/${sha256}.tar.gz`;
  for (const field of [PURPOSE, METHOD, object, String(expiresS), attachment(fileName), CONTENT_TYPE]) {
    // Also sign the length of each field, so that two different lists of fields never produce the same bytes.
    const bytes = Buffer.from(field);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hmac.update(length).update(bytes);
  }
  return hmac.digest('base64url');
}
