import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3';
import { DocshelfError } from '../../domain/errors.ts';
import { RETRY_TOOLS, type RetryTools, retry } from '../../net/retry.ts';
import type { SharedFile } from '../ports.ts';
import type { PackedBundle } from './bundle-bytes.ts';
import { createS3Client, type S3Settings, type StoreAct, type StoreVerb, storeFault } from './s3-client.ts';
import { type S3Object, S3Upload } from './s3-upload.ts';

export interface S3ObjectsOptions extends S3Settings {
  readonly retryTools?: RetryTools;
}

/** An object as messages and requests name it. */
export interface ObjectName {
  /** Below the prefix. */
  readonly key: string;
  readonly what: `${'bundle' | 'file'} "${string}"`;
  readonly contentType: string;
}

interface Found {
  readonly sizeBytes: number;
  readonly changedMs: number;
}

/** Rounds after the first: up to 32 s of waiting, besides the SDK's own attempts. A job has taken up to hours by then. */
const ROUNDS_MORE = 6;

/**
 * Objects of S3 and services like it, each with the digest of its bytes. Loads the SDK (0.13 s). Every call throws
 * `store_failed` where the store cannot be used.
 */
export class S3Objects {
  readonly client: S3Client;
  readonly #options: S3ObjectsOptions;

  /** @throws DocshelfError `cannot_read` or `config_invalid` for the file of certificates */
  constructor(options: S3ObjectsOptions) {
    this.#options = options;
    this.client = createS3Client(options);
  }

  /** Nothing where it is kept, unless that is older than `maxAgeMs`. @throws DocshelfError `cannot_read`; the signal's reason */
  async put(object: ObjectName, bytes: PackedBundle, signal: AbortSignal, maxAgeMs = Infinity): Promise<void> {
    const { encryption, retryTools = RETRY_TOOLS } = this.#options;
    const upload = new S3Upload(this.client, this.at(object), bytes, object.contentType, encryption);
    try {
      const round = () => this.#put(object, bytes, upload, signal, Date.now() - maxAgeMs);
      await retry(round, { retriesMax: ROUNDS_MORE, signal }, retryTools);
    } catch (error) {
      await upload.giveUp();
      throw error;
    }
  }

  async #put(object: ObjectName, bytes: PackedBundle, upload: S3Upload, signal: AbortSignal, sinceMs: number) {
    const isKept = async (): Promise<boolean> => {
      const found = await this.find(object, bytes.sha256, 'store', signal);
      return found !== null && found.sizeBytes === bytes.sizeBytes && found.changedMs > sinceMs;
    };
    if (await isKept()) return;
    try {
      await upload.send(signal);
    } catch (error) {
      signal.throwIfAborted();
      const isOurs = error instanceof DocshelfError;
      // Where only the answer was lost, the repeated call found nothing left to complete.
      if (!isOurs && (await isKept().catch(() => false))) return;
      if ((error as Error).name === 'NoSuchUpload') upload.forget();
      throw this.faultOf(error, 'store', object);
    }
  }

  /** Null where there is none with that digest. */
  async find(object: ObjectName, sha256: string, verb: StoreVerb, signal?: AbortSignal): Promise<Found | null> {
    try {
      const head = new HeadObjectCommand(this.at(object));
      const found = await this.client.send(head, signal === undefined ? {} : { abortSignal: signal });
      if (found.Metadata?.sha256 !== sha256 || found.ContentLength === undefined) return null;
      return { sizeBytes: found.ContentLength, changedMs: Number(found.LastModified ?? Infinity) };
    } catch (error) {
      signal?.throwIfAborted();
      if (isNotFound(error)) return null;
      throw this.faultOf(error, verb, object);
    }
  }

  /** Null where there is none. @throws the stream, the signal's reason */
  async read(object: ObjectName, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | null> {
    try {
      const { Body } = await this.client.send(new GetObjectCommand(this.at(object)), { abortSignal: signal });
      return Body as AsyncIterable<Uint8Array>;
    } catch (error) {
      signal.throwIfAborted();
      if (isNotFound(error)) return null;
      throw this.faultOf(error, 'read', object);
    }
  }

  async remove(object: ObjectName): Promise<void> {
    try {
      await this.client.send(new DeleteObjectCommand(this.at(object)));
    } catch (error) {
      throw this.faultOf(error, 'remove', object);
    }
  }

  /** Names are keys without the prefix and the folder. */
  async *list(folder: string): AsyncGenerator<SharedFile> {
    const { Bucket, Key: Prefix } = this.at({ key: folder });
    const what = { key: folder, what: `file "${folder}"` } as const;
    for (let ContinuationToken: string | undefined, isLast = false; !isLast; ) {
      const page = await this.client
        .send(new ListObjectsV2Command({ Bucket, Prefix, ContinuationToken }))
        .catch((error: unknown) => {
          throw this.faultOf(error, 'look for', what);
        });
      for (const { Key = '', LastModified } of page.Contents ?? [])
        yield { name: Key.slice(Prefix.length), changedMs: Number(LastModified ?? Infinity) };
      ContinuationToken = page.NextContinuationToken;
      isLast = page.IsTruncated !== true;
    }
  }

  at({ key }: Pick<ObjectName, 'key'>): S3Object {
    const { bucket, prefix } = this.#options;
    const folder = prefix.replace(/^\/+|\/+$/g, '');
    return { Bucket: bucket, Key: `${folder === '' ? '' : `${folder}/`}${key}` };
  }

  /** For an operator. */
  faultOf(error: unknown, verb: StoreVerb, { what }: Pick<ObjectName, 'what'>): DocshelfError {
    const act: StoreAct = `${verb} ${what} in bucket "${this.#options.bucket}"`;
    return storeFault(error, act);
  }

  close(): void {
    this.client.destroy();
  }
}

function isNotFound(error: unknown): boolean {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 404;
}
