import { GetObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { create as contentDisposition } from 'content-disposition';
import type { BundleStore, PackedBundle, SharedFiles } from '../ports.ts';
import { bundleGone, linkSeconds } from './bundle-bytes.ts';
import { type ObjectName, S3Objects, type S3ObjectsOptions } from './s3-objects.ts';

export interface S3BundleStoreOptions extends S3ObjectsOptions {
  readonly nowMs: () => number;
}

const CONTENT_TYPE = 'application/gzip';
const bundleObject = (sha256: string): ObjectName => ({
  key: `${sha256}.tar.gz`,
  what: `bundle "${sha256}"`,
  contentType: CONTENT_TYPE,
});

/**
 * Links are presigned for GET (SigV4), so Amazon rejects HEAD with 403. A link also expires with the temporary credentials that
 * signed it, such as those of a role. `expiresAt` is then the earlier time.
 */
export class S3BundleStore implements BundleStore {
  readonly #objects: S3Objects;
  readonly #nowMs: () => number;

  constructor({ nowMs, ...options }: S3BundleStoreOptions) {
    this.#nowMs = nowMs;
    this.#objects = new S3Objects(options);
  }

  get shared(): SharedFiles {
    return sharedFiles(this.#objects);
  }

  put(bundle: PackedBundle, signal: AbortSignal): Promise<void> {
    return this.#objects.put(bundleObject(bundle.sha256), bundle, signal);
  }

  async has(sha256: string): Promise<boolean> {
    return (await this.#objects.find(bundleObject(sha256), sha256, 'look for')) !== null;
  }

  async link({ sha256, fileName }: { readonly sha256: string; readonly fileName: string }, ttlMs: number) {
    const { client } = this.#objects;
    // Sign by the clock of the store, which checks the expiry. After its first request, the SDK knows the offset of this clock.
    const nowMs = this.#nowMs() + client.config.systemClockOffset;
    const expiresIn = linkSeconds(ttlMs, nowMs);
    const signingDate = new Date(Math.floor(nowMs / 1000) * 1000);
    const get = new GetObjectCommand({
      ...this.#objects.at(bundleObject(sha256)),
      ResponseContentType: CONTENT_TYPE,
      ResponseContentDisposition: contentDisposition(fileName),
    });
    try {
      const { expiration } = await client.config.credentials();
      const url = await getSignedUrl(client, get, { expiresIn, signingDate });
      const endsMs = signingDate.getTime() + expiresIn * 1000;
      return { url, expiresAt: new Date(Math.min(endsMs, expiration?.getTime() ?? endsMs)) };
    } catch (error) {
      throw this.#objects.faultOf(error, 'link to', bundleObject(sha256));
    }
  }

  async read(sha256: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const stream = await this.#objects.read(bundleObject(sha256), signal);
    if (stream === null) throw bundleGone(sha256);
    return stream;
  }

  remove(sha256: string): Promise<void> {
    return this.#objects.remove(bundleObject(sha256));
  }

  async check(): Promise<void> {
    for await (const _ of this.#objects.list('check/')) break;
  }

  async close(): Promise<void> {
    this.#objects.close();
  }
}

const FOLDER = 'jobs/';
/** Age from which docshelf uploads a needed file again. Files older than 8 days (`UNUSED_MS`) can be removed at any time. */
const AGE_MS_MAX = 4 * 24 * 3_600_000;

const sharedFile = (name: string): ObjectName => ({
  key: FOLDER + name,
  what: `file "${name}"`,
  contentType: 'application/octet-stream',
});

const sharedFiles = (objects: S3Objects): SharedFiles => ({
  put: (name, bytes, signal) => objects.put(sharedFile(name), bytes, signal, AGE_MS_MAX),
  read: (name, signal) => objects.read(sharedFile(name), signal),
  list: (folder) => objects.list(FOLDER + folder),
  remove: (name) => objects.remove(sharedFile(name)),
});
