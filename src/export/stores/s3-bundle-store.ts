import { DeleteObjectCommand, GetObjectCommand, HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { create as contentDisposition } from 'content-disposition';
import { DocshelfError } from '../../domain/errors.ts';
import type { BundleStore } from '../ports.ts';
import type { PackedBundle } from './bundle-bytes.ts';
import { linkSeconds } from './link-lifetime.ts';
import { createS3Client, type S3Settings } from './s3-client.ts';
import { type StoreAct, storeFault } from './s3-faults.ts';
import { type S3Object, uploadBundle } from './s3-upload.ts';

export interface S3BundleStoreOptions extends S3Settings {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

/**
 * Bundles as objects of S3, or of a service like it: `<prefix>/<sha256>.tar.gz`. This file loads the SDK (0.13 s): import it
 * only where the config names this store.
 *
 * Links are SigV4 presigned GETs. The signature covers the method, so that Amazon answers 403 to HEAD of such a link: what
 * a client wants to know before it downloads, `GET` with `Range: bytes=0-0` says (length and ETag). The link dies earlier
 * than asked for where the credentials that sign it do, as those of a role; `expiresAt` says so. A link also ends with its
 * access key.
 *
 * Every call throws `store_failed` with a sentence that an operator can act on where the store cannot be used.
 */
export class S3BundleStore implements BundleStore {
  readonly #options: S3BundleStoreOptions;
  readonly #client: S3Client;

  /** @throws DocshelfError `cannot_read` or `config_invalid` for the file of certificates */
  constructor(options: S3BundleStoreOptions) {
    this.#options = options;
    this.#client = createS3Client(options);
  }

  /** @throws DocshelfError `cannot_read`; the signal's reason */
  async put(bundle: PackedBundle, signal: AbortSignal): Promise<void> {
    const { sha256, sizeBytes } = bundle;
    const isKept = async (): Promise<boolean> => (await this.#sizeOf(sha256, 'store', signal)) === sizeBytes;
    if (await isKept()) return;
    try {
      await uploadBundle(this.#client, this.#objectOf(sha256), bundle, signal);
    } catch (error) {
      signal.throwIfAborted();
      const isOurs = error instanceof DocshelfError;
      // Only the answer may have been lost: then the repeated call found nothing left to complete.
      if (!isOurs && (await isKept().catch(() => false))) return;
      throw storeFault(error, this.#act('store', sha256));
    }
  }

  async has(sha256: string): Promise<boolean> {
    return (await this.#sizeOf(sha256, 'look for')) !== null;
  }

  async link(
    { sha256, fileName }: { readonly sha256: string; readonly fileName: string },
    ttlMs: number,
  ): Promise<{ readonly url: string; readonly expiresAt: Date }> {
    const nowMs = this.#options.nowMs();
    const expiresIn = linkSeconds(ttlMs, nowMs);
    const signingDate = new Date(Math.floor(nowMs / 1000) * 1000);
    const get = new GetObjectCommand({
      ...this.#objectOf(sha256),
      ResponseContentType: 'application/gzip',
      ResponseContentDisposition: contentDisposition(fileName),
    });
    try {
      const { expiration } = await this.#client.config.credentials();
      const url = await getSignedUrl(this.#client, get, { expiresIn, signingDate });
      const endsMs = signingDate.getTime() + expiresIn * 1000;
      return { url, expiresAt: new Date(Math.min(endsMs, expiration?.getTime() ?? endsMs)) };
    } catch (error) {
      throw storeFault(error, this.#act('link to', sha256));
    }
  }

  async remove(sha256: string): Promise<void> {
    try {
      await this.#client.send(new DeleteObjectCommand(this.#objectOf(sha256)));
    } catch (error) {
      throw storeFault(error, this.#act('remove', sha256));
    }
  }

  async close(): Promise<void> {
    this.#client.destroy();
  }

  /** Null where it is not kept: there is no such object, or one that others have put there. */
  async #sizeOf(sha256: string, verb: 'store' | 'look for', signal?: AbortSignal): Promise<number | null> {
    try {
      const head = new HeadObjectCommand(this.#objectOf(sha256));
      const found = await this.#client.send(head, signal === undefined ? {} : { abortSignal: signal });
      return found.Metadata?.sha256 === sha256 ? (found.ContentLength ?? null) : null;
    } catch (error) {
      signal?.throwIfAborted();
      if ((error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 404) return null;
      throw storeFault(error, this.#act(verb, sha256));
    }
  }

  #objectOf(sha256: string): S3Object {
    const { bucket, prefix } = this.#options;
    const folder = prefix.replace(/^\/+|\/+$/g, '');
    return { Bucket: bucket, Key: `${folder === '' ? '' : `${folder}/`}${sha256}.tar.gz` };
  }

  #act(verb: 'store' | 'look for' | 'link to' | 'remove', sha256: string): StoreAct {
    return `${verb} bundle "${sha256}" in bucket "${this.#options.bucket}"`;
  }
}
