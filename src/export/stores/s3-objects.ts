import { hash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { S3Place } from '../../domain/egress.ts';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { Lanes } from '../../files/lanes.ts';
import { CERTIFICATE_FAULT } from '../../net/certificates.ts';
import type { EgressPolicy } from '../../net/egress.ts';
import { RETRY_TOOLS, type RetryTools, retry } from '../../net/retry.ts';
import { openS3Client, s3ConfigOf } from '../../net/s3.ts';
import { type S3FaultKind, s3FaultOf } from '../../net/s3-faults.ts';
import type { PackedBundle, SharedFile } from '../ports.ts';
import { bundleBytes } from './bundle-bytes.ts';

type S3Encryption = { readonly algorithm: 'AES256' | 'aws:kms'; readonly kmsKeyId: string | null };

interface S3Settings extends S3Place {
  readonly bucket: string;
  readonly prefix: string;
  readonly encryption: S3Encryption | null;
  readonly credentials: { readonly accessKeyId: Secret; readonly secretAccessKey: Secret } | null;
  readonly policy: EgressPolicy;
}

const CONNECT_MS_MAX = 10_000;
const IDLE_MS_MAX = 60_000;
/** Maximum attempts of the SDK per request. The SDK waits between attempts, and does not repeat permanently rejected requests. */
const ATTEMPTS_MAX = 4;

function createS3Client(settings: S3Settings): S3Client {
  const { policy, credentials: keys } = settings;
  const credentials = keys && {
    accessKeyId: keys.accessKeyId.reveal(),
    secretAccessKey: keys.secretAccessKey.reveal(),
  };
  const config = { ...s3ConfigOf(settings), ...(credentials && { credentials }), maxAttempts: ATTEMPTS_MAX };
  const timeouts = { connectionTimeout: CONNECT_MS_MAX, socketTimeout: IDLE_MS_MAX };
  return openS3Client(policy, config, timeouts, 'exportApi.store.caFile');
}

type StoreVerb = 'store' | 'look for' | 'link to' | 'read' | 'remove';
type StoreAct = `${StoreVerb} ${'bundle' | 'file'} "${string}" in bucket "${string}"`;

type Fault = { readonly state: string; readonly next: string; readonly retryable: boolean };
const lasting = (state: string, next: string): Fault => ({ state, next, retryable: false });
const passing = (state: string, next: string): Fault => ({ state, next, retryable: true });

const CHECK_CREDENTIALS =
  'Check exportApi.store.accessKeyId and secretAccessKey, or the AWS variables in the environment of docshelf.';
const CHECK_ADDRESS = 'Check exportApi.store.endpoint, the host name and the network.';

const NEXT: Readonly<Record<S3FaultKind, string>> = {
  credentials: CHECK_CREDENTIALS,
  no_credentials:
    'Set exportApi.store.accessKeyId and exportApi.store.secretAccessKey, or the environment variables AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE. docshelf does not use the metadata service of the machine.',
  clock: 'Synchronize the clock of this machine with NTP. The store accepts a difference of at most 15 minutes.',
  no_bucket: 'Create the bucket, or correct exportApi.store.bucket.',
  region: 'Set exportApi.store.region to the region of the bucket.',
  archived: 'Restore the object, and store bundles in a storage class with immediate access.',
  upload: 'Start the export again. If it fails again, check the lifecycle rules of the bucket.',
  kms: 'Check exportApi.store.kmsKeyId. The key must be enabled and in the region of the bucket. Its policy must allow kms:GenerateDataKey and kms:Decrypt.',
  bytes: 'Start the export again. If it fails again, check the proxies between docshelf and the store.',
};

const PASSING: ReadonlySet<S3FaultKind> = new Set(['bytes', 'upload']);

function faultOfCode(code: string): Fault | null {
  if (code === 'TimeoutError') return passing('the store stopped responding', CHECK_ADDRESS);
  const found = s3FaultOf(code);
  return found && { state: found.state, next: NEXT[found.kind], retryable: PASSING.has(found.kind) };
}

/** Converts an error of the SDK. Omits it as the cause, because it contains headers and the access key id. */
function storeFault(error: unknown, act: StoreAct): DocshelfError {
  if (error instanceof DocshelfError) return error;
  const { name = '', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  // Print the error code of the server only if it is a plain word, because a server can send any text.
  const code = /^[A-Za-z][A-Za-z0-9.]{0,63}$/.test(name) ? name : 'unknown';
  const fault = faultOfCode(code) ?? faultOfStatus(status, code) ?? connectionFault(error);
  return new DocshelfError('store_failed', `Cannot ${act}: ${fault.state}`, {
    next: fault.next,
    fields: { retryable: fault.retryable, storeCode: code, ...(status === undefined ? {} : { storeStatus: status }) },
  });
}

/** Describes an error by its HTTP status, because a response to HEAD has no body with an error code. */
function faultOfStatus(status: number | undefined, code: string): Fault | null {
  if (status === undefined) return null;
  if (status === 401 || status === 403) {
    return lasting(
      `the store denies access (${code}, ${status})`,
      'Allow these credentials s3:PutObject, s3:GetObject, s3:DeleteObject and s3:AbortMultipartUpload for the objects, and s3:ListBucket for the bucket.',
    );
  }
  if (status === 301 || status === 307) {
    return lasting(
      `the store redirects to another address (${code}, ${status})`,
      'Set exportApi.store.region to the region of the bucket, and exportApi.store.endpoint to its address.',
    );
  }
  const state = `the store responds with ${status} (${code})`;
  return status >= 500 || status === 429
    ? passing(state, 'docshelf tried several times. Check the store, then start the export again.')
    : lasting(state, 'Compare the settings under exportApi.store with the settings of the bucket.');
}

function connectionFault(error: unknown): Fault {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (message === 'Region is missing')
    return lasting('the region of the bucket is unknown', 'Set exportApi.store.region.');
  if (typeof code === 'string' && CERTIFICATE_FAULT.test(code)) {
    return lasting(
      `docshelf does not trust the certificate of the store (${code})`,
      'If the store uses your own certificate authority, put the certificate of the authority into a PEM file. Then set exportApi.store.caFile to that file.',
    );
  }
  if (code === 'ADDRESS_REFUSED') {
    return lasting(
      'docshelf may not contact the host of the store',
      'Add the host of the store to network.allowedHosts, or correct exportApi.store.endpoint.',
    );
  }
  const errno = errnoOf(error);
  if (errno !== undefined) return passing(`docshelf cannot reach the store (${errno})`, CHECK_ADDRESS);
  return lasting('docshelf cannot reach the store, or its response is not from S3', CHECK_ADDRESS);
}

export interface S3ObjectsOptions extends S3Settings {
  readonly retryTools?: RetryTools;
}

export interface ObjectName {
  readonly key: string;
  readonly what: `${'bundle' | 'file'} "${string}"`;
  readonly contentType: string;
}

const ROUNDS_MORE = 6;

/** Objects in an S3 bucket. Every call throws `store_failed` if the store is unusable. This file loads the AWS SDK (0.13 s). */
export class S3Objects {
  readonly client: S3Client;
  readonly #options: S3ObjectsOptions;

  constructor(options: S3ObjectsOptions) {
    this.#options = options;
    this.client = createS3Client(options);
  }

  /**
   * Uploads an object, unless the store has it.
   * @param maxAgeMs age from which a stored copy is replaced
   * @throws DocshelfError `cannot_read`; `signal.reason`
   */
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
      if (!isOurs && (await isKept().catch(() => false))) return;
      if ((error as Error).name === 'NoSuchUpload') upload.forget();
      throw this.faultOf(error, 'store', object);
    }
  }

  async find(object: ObjectName, sha256: string, verb: StoreVerb, signal?: AbortSignal) {
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

  faultOf(error: unknown, verb: StoreVerb, { what }: Pick<ObjectName, 'what'>): DocshelfError {
    const act: StoreAct = `${verb} ${what} in bucket "${this.#options.bucket}"`;
    return storeFault(error, act);
  }

  close(): void {
    this.client.destroy();
  }
}

const isNotFound = (error: unknown): boolean =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 404;

type S3Object = { readonly Bucket: string; readonly Key: string };

/**
 * Size of an uploaded part in bytes, the minimum that S3 allows. With 10,000 parts, an upload can have 48 GiB, six times the
 * largest bundle.
 */
export const PART_BYTES = 5 * 1024 ** 2;
/** Number of parts to upload concurrently: enough to hide the latency of requests, with only 20 MiB of memory. */
const PARTS_AT_ONCE = 4;
const GIVE_UP_MS_MAX = 10_000;
/** Maximum age of an unfinished upload to resume. Older uploads may have other settings, and a lifecycle rule can end them. */
const RESUMED_MS_MAX = 24 * 3600_000;

/** Uploaded part, identified by its checksum, or else by its ETag, which is an MD5 of the part unless KMS encrypts the part. */
type StoredPart = Pick<CompletedPart, 'ETag' | 'ChecksumSHA256'>;

/**
 * Uploads a bundle in parts, which become visible only after the digest of the whole bundle was checked. Each request has the SHA-256
 * of its bytes, so that the store rejects damaged bytes. Skips parts that are already uploaded.
 */
export class S3Upload {
  readonly #client: S3Client;
  readonly #object: S3Object;
  readonly #bundle: PackedBundle;
  readonly #described: object;
  #uploadId: string | null = null;
  #stored = new Map<number, StoredPart>();

  constructor(
    client: S3Client,
    object: S3Object,
    bundle: PackedBundle,
    contentType: string,
    encryption: S3Encryption | null,
  ) {
    this.#client = client;
    this.#object = object;
    this.#bundle = bundle;
    this.#described = {
      ContentType: contentType,
      Metadata: { sha256: bundle.sha256 },
      ...(encryption === null ? {} : { ServerSideEncryption: encryption.algorithm }),
      ...(encryption?.kmsKeyId == null ? {} : { SSEKMSKeyId: encryption.kmsKeyId }),
    };
  }

  async send(signal: AbortSignal): Promise<void> {
    if (this.#bundle.sizeBytes > PART_BYTES) return this.#sendParts(signal);
    const chunks: Buffer[] = [];
    for await (const chunk of bundleBytes(this.#bundle, PART_BYTES, signal)) chunks.push(chunk);
    const Body = Buffer.concat(chunks);
    const put = new PutObjectCommand({ ...this.#object, ...this.#described, Body, ChecksumSHA256: checksum(Body) });
    await this.#client.send(put, { abortSignal: signal });
  }

  /**
   * Aborts an upload, to remove its stored parts, which cost money. If the abort fails, a lifecycle rule of the bucket can remove
   * the parts.
   */
  async giveUp(): Promise<void> {
    if (this.#uploadId === null) return;
    const abort = new AbortMultipartUploadCommand({ ...this.#object, UploadId: this.#uploadId });
    await this.#client.send(abort, { abortSignal: AbortSignal.timeout(GIVE_UP_MS_MAX) }).catch(() => undefined);
    this.forget();
  }

  forget(): void {
    this.#uploadId = null;
    this.#stored.clear();
  }

  async #sendParts(signal: AbortSignal): Promise<void> {
    const options = { abortSignal: signal };
    if (this.#uploadId === null && !(await this.#resume(signal))) {
      const words = { ...this.#object, ...this.#described, ChecksumAlgorithm: 'SHA256' } as const;
      this.#uploadId = (await this.#client.send(new CreateMultipartUploadCommand(words), options)).UploadId ?? null;
    }
    const upload = { ...this.#object, UploadId: this.#uploadId ?? undefined };
    await using lanes = new Lanes(PARTS_AT_ONCE);
    const parts: CompletedPart[] = [];
    let read = 0;
    for await (const Body of bundleBytes(this.#bundle, PART_BYTES, signal)) {
      read += 1;
      const PartNumber = read;
      const stored = this.#stored.get(PartNumber);
      if (stored !== undefined && isOf(stored, Body)) {
        parts[PartNumber - 1] = { PartNumber, ...stored };
        continue;
      }
      await lanes.run(async () => {
        const part = new UploadPartCommand({ ...upload, PartNumber, Body, ChecksumSHA256: checksum(Body) });
        const answer = storedOf(await this.#client.send(part, options));
        this.#stored.set(PartNumber, answer);
        parts[PartNumber - 1] = { PartNumber, ...answer };
      });
    }
    await lanes.drain();
    await this.#client.send(
      new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } }),
      options,
    );
  }

  /** Resumes the newest unfinished upload. False if none exists, or if the store or the access key does not allow listing uploads. */
  async #resume(signal: AbortSignal): Promise<boolean> {
    const options = { abortSignal: signal };
    const { Bucket, Key } = this.#object;
    try {
      const list = new ListMultipartUploadsCommand({ Bucket, Prefix: Key });
      const { Uploads = [] } = await this.#client.send(list, options);
      const sinceMs = Date.now() - RESUMED_MS_MAX;
      const [newest] = Uploads.map(({ Key: key, UploadId, Initiated }) => ({ key, UploadId, atMs: Number(Initiated) }))
        .filter(({ key, atMs }) => key === Key && atMs > sinceMs)
        .sort((a, b) => b.atMs - a.atMs);
      if (newest?.UploadId === undefined) return false;
      this.#stored = await this.#partsOf(newest.UploadId, signal);
      this.#uploadId = newest.UploadId;
      return true;
    } catch (error) {
      const { httpStatusCode = 500 } = (error as { $metadata?: { httpStatusCode?: number } }).$metadata ?? {};
      if (httpStatusCode >= 500 && httpStatusCode !== 501) throw error;
      return false;
    }
  }

  async #partsOf(UploadId: string, signal: AbortSignal): Promise<Map<number, StoredPart>> {
    const stored = new Map<number, StoredPart>();
    let PartNumberMarker: string | undefined;
    do {
      const list = new ListPartsCommand({ ...this.#object, UploadId, PartNumberMarker });
      const page = await this.#client.send(list, { abortSignal: signal });
      for (const part of page.Parts ?? []) stored.set(part.PartNumber ?? 0, storedOf(part));
      PartNumberMarker = page.IsTruncated === true ? page.NextPartNumberMarker : undefined;
    } while (PartNumberMarker !== undefined);
    return stored;
  }
}

/** Omits the checksum of a part if the store returned none, because such a store does not support checksums. */
function storedOf({ ETag, ChecksumSHA256 }: StoredPart): StoredPart {
  return { ETag, ...(ChecksumSHA256 === undefined ? {} : { ChecksumSHA256 }) };
}

function isOf({ ETag, ChecksumSHA256 }: StoredPart, bytes: Uint8Array): boolean {
  if (ChecksumSHA256 !== undefined) return ChecksumSHA256 === checksum(bytes);
  return ETag === `"${hash('md5', bytes)}"`;
}

const checksum = (bytes: Uint8Array): string => hash('sha256', bytes, 'base64');
