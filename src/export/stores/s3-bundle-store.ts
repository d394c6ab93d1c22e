import { hash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { create as contentDisposition } from 'content-disposition';
import { DocshelfError } from '../../domain/errors.ts';
import { Lanes } from '../../files/lanes.ts';
import type { BundleStore } from '../ports.ts';
import { bundleBytes, bundleGone, type PackedBundle } from './bundle-bytes.ts';
import { linkSeconds } from './links.ts';
import { createS3Client, type S3Settings, type StoreAct, storeFault } from './s3-client.ts';

export interface S3BundleStoreOptions extends S3Settings {
  readonly nowMs: () => number;
}

/**
 * Objects of S3 and services like it: `<prefix>/<sha256>.tar.gz`. Loads the SDK (0.13 s). Every call throws
 * `store_failed` where the store cannot be used.
 * Links are SigV4 presigned GETs, to HEAD of which Amazon answers 403: `GET` with `Range: bytes=0-0` says length and
 * ETag. A link ends with the credentials that signed it; where those expire, as a role's, `expiresAt` says so.
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
      // Where only the answer was lost, the repeated call found nothing left to complete.
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

  async read(sha256: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    try {
      const get = new GetObjectCommand(this.#objectOf(sha256));
      const { Body } = await this.#client.send(get, { abortSignal: signal });
      return Body as AsyncIterable<Uint8Array>;
    } catch (error) {
      signal.throwIfAborted();
      if (isNotFound(error)) throw bundleGone(sha256);
      throw storeFault(error, this.#act('read', sha256));
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

  async #sizeOf(sha256: string, verb: 'store' | 'look for', signal?: AbortSignal): Promise<number | null> {
    try {
      const head = new HeadObjectCommand(this.#objectOf(sha256));
      const found = await this.#client.send(head, signal === undefined ? {} : { abortSignal: signal });
      return found.Metadata?.sha256 === sha256 ? (found.ContentLength ?? null) : null;
    } catch (error) {
      signal?.throwIfAborted();
      if (isNotFound(error)) return null;
      throw storeFault(error, this.#act(verb, sha256));
    }
  }

  #objectOf(sha256: string): S3Object {
    const { bucket, prefix } = this.#options;
    const folder = prefix.replace(/^\/+|\/+$/g, '');
    return { Bucket: bucket, Key: `${folder === '' ? '' : `${folder}/`}${sha256}.tar.gz` };
  }

  #act(verb: 'store' | 'look for' | 'link to' | 'read' | 'remove', sha256: string): StoreAct {
    return `${verb} bundle "${sha256}" in bucket "${this.#options.bucket}"`;
  }
}

interface S3Object {
  readonly Bucket: string;
  readonly Key: string;
}

/** The smallest part that S3 takes. 10,000 parts may be: 48 GiB, six times the largest bundle. */
export const PART_BYTES = 5 * 1024 ** 2;
/** 20 MiB of memory; hides the time between requests. */
const PARTS_AT_ONCE = 4;
const GIVE_UP_MS_MAX = 10_000;

/**
 * Whole or not at all: several parts become reachable with the last call, after their digest was checked. Each part has
 * its SHA-256, by which a store refuses one that was damaged.
 * @throws DocshelfError as `bundleBytes`; the SDK's errors
 */
async function uploadBundle(
  client: S3Client,
  object: S3Object,
  bundle: PackedBundle,
  signal: AbortSignal,
): Promise<void> {
  const described = { ...object, ContentType: 'application/gzip', Metadata: { sha256: bundle.sha256 } };
  if (bundle.sizeBytes > PART_BYTES) {
    await uploadParts(client, described, bundle, signal);
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of bundleBytes(bundle, PART_BYTES, signal)) chunks.push(chunk);
  const Body = Buffer.concat(chunks);
  const put = new PutObjectCommand({ ...described, Body, ChecksumSHA256: checksum(Body) });
  await client.send(put, { abortSignal: signal });
}

async function uploadParts(
  client: S3Client,
  { Bucket, Key, ...described }: S3Object & { ContentType: string; Metadata: { sha256: string } },
  bundle: PackedBundle,
  signal: AbortSignal,
): Promise<void> {
  const options = { abortSignal: signal };
  const create = new CreateMultipartUploadCommand({ Bucket, Key, ...described, ChecksumAlgorithm: 'SHA256' });
  const { UploadId } = await client.send(create, options);
  const upload = { Bucket, Key, UploadId };
  const lanes = new Lanes(PARTS_AT_ONCE);
  const parts: CompletedPart[] = [];
  let read = 0;
  try {
    for await (const Body of bundleBytes(bundle, PART_BYTES, signal)) {
      read += 1;
      const PartNumber = read;
      await lanes.run(async () => {
        const part = new UploadPartCommand({ ...upload, PartNumber, Body, ChecksumSHA256: checksum(Body) });
        const { ETag, ChecksumSHA256 } = await client.send(part, options);
        // A store that does not answer with the checksum does not know it.
        parts[PartNumber - 1] = { PartNumber, ETag, ...(ChecksumSHA256 === undefined ? {} : { ChecksumSHA256 }) };
      });
    }
    await lanes.drain();
    await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } }), options);
  } catch (error) {
    await lanes.settle();
    // Parts that are left cost money. Where this fails too, a lifecycle rule of the bucket removes them.
    await client
      .send(new AbortMultipartUploadCommand(upload), { abortSignal: AbortSignal.timeout(GIVE_UP_MS_MAX) })
      .catch(() => undefined);
    throw error;
  }
}

function isNotFound(error: unknown): boolean {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 404;
}

function checksum(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64');
}
