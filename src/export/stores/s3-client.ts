import { getCACertificates } from 'node:tls';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { readCertificates } from '../../net/certificates.ts';
import { CERTIFICATE_FAULT } from '../../net/http-response.ts';

export interface S3Settings {
  readonly bucket: string;
  /** Null: `us-east-1` with an endpoint, which most other services take; else what the SDK finds in the environment. */
  readonly region: string | null;
  /** URL of another S3 service; null: Amazon's. */
  readonly endpoint: string | null;
  /** The bucket in the path and not in the host name. */
  readonly pathStyle: boolean;
  /** Folder of the objects in the bucket; empty: none. */
  readonly prefix: string;
  /** Null: they are found in the environment. */
  readonly credentials: { readonly accessKeyId: Secret; readonly secretAccessKey: Secret } | null;
  /** PEM file of certificates that are trusted besides Node's own roots. */
  readonly caFile: string | null;
  /**
   * Where credentials come from that the config does not name. `anywhere`: the SDK's default chain, environment, shared
   * files, web identity, the metadata services of containers and machines. `environment`: `AWS_ACCESS_KEY_ID`,
   * `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` alone, which asks nobody: for an air-gapped deployment.
   */
  readonly findCredentials: 'anywhere' | 'environment';
}

const CONNECT_MS_MAX = 10_000;
/** Without one byte for this long, a request has failed. */
const IDLE_MS_MAX = 60_000;
/** The SDK waits longer before each, and does not repeat what the store refuses for good. */
const ATTEMPTS_MAX = 4;

/** Nothing is asked yet. @throws DocshelfError `cannot_read` or `config_invalid` for the file of certificates */
export function createS3Client(settings: S3Settings): S3Client {
  const { endpoint, pathStyle, caFile } = settings;
  const region = settings.region ?? (endpoint === null ? null : 'us-east-1');
  const credentials = credentialsOf(settings);
  const ca =
    caFile === null
      ? {}
      : { ca: [...getCACertificates('default'), readCertificates(caFile, 'exportApi.store.caFile')] };
  return new S3Client({
    ...(region === null ? {} : { region }),
    ...(endpoint === null ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
    forcePathStyle: pathStyle,
    maxAttempts: ATTEMPTS_MAX,
    // Uploads carry checksums of ours. What the SDK adds otherwise, older services of other makers refuse, and links
    // would have a parameter more.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_MS_MAX,
      socketTimeout: IDLE_MS_MAX,
      httpsAgent: { keepAlive: true, ...ca },
    },
  });
}

/** Undefined: the SDK's default chain. */
function credentialsOf({ credentials, findCredentials }: S3Settings): S3ClientConfig['credentials'] | undefined {
  if (credentials !== null) {
    const { accessKeyId, secretAccessKey } = credentials;
    return { accessKeyId: accessKeyId.reveal(), secretAccessKey: secretAccessKey.reveal() };
  }
  if (findCredentials === 'anywhere') return undefined;
  return async () => {
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
    if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) throw noCredentials();
    return {
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
    };
  };
}

/** What a fault's sentence says that was tried: `Cannot <act>: <state>`. */
export type StoreAct = `${'store' | 'look for' | 'link to' | 'remove'} bundle "${string}" in bucket "${string}"`;

interface Fault {
  readonly state: string;
  readonly next: string;
  /** Whether the same request may succeed later, without anybody changing anything. */
  readonly retryable: boolean;
}

const CHECK_CREDENTIALS =
  'Check exportApi.store.accessKeyId and secretAccessKey, or what the environment has in their place.';
const CHECK_ADDRESS = 'Check exportApi.store.endpoint, the host name and the network.';

/** The S3 error codes that say what an operator can do, as its API reference has them; those of other services are alike. */
const FAULTS: readonly (readonly [code: RegExp, fault: Fault])[] = [
  [
    /^(?:InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|ExpiredToken|TokenRefreshRequired)$/,
    { state: 'the store does not accept the credentials', next: CHECK_CREDENTIALS, retryable: false },
  ],
  [
    /^(?:RequestTimeTooSkewed|RequestExpired)$/,
    {
      state: "this machine's clock and the store's are too far apart",
      next: 'Set the clock of this machine: the store takes requests that are at most 15 minutes off.',
      retryable: false,
    },
  ],
  [
    /^NoSuchBucket$/,
    {
      state: 'there is no such bucket',
      next: 'Create the bucket, or correct exportApi.store.bucket.',
      retryable: false,
    },
  ],
  [
    /^(?:PermanentRedirect|TemporaryRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/,
    {
      state: 'the bucket is in another region',
      next: 'Set exportApi.store.region to the region of the bucket.',
      retryable: false,
    },
  ],
  [
    /^(?:BadDigest|InvalidDigest|XAmzContentSHA256Mismatch|XAmzContentChecksumMismatch)$/,
    {
      state: 'what arrived were other bytes than were sent, and the store refused them',
      next: 'Start the export again; where it happens twice, look at proxies between docshelf and the store.',
      retryable: true,
    },
  ],
  [
    /^(?:CredentialsProviderError|NoCredentials)$/,
    {
      state: 'there are no credentials for the store',
      next: 'Set exportApi.store.accessKeyId and secretAccessKey, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.',
      retryable: false,
    },
  ],
  [/^TimeoutError$/, { state: 'the store stopped answering', next: CHECK_ADDRESS, retryable: true }],
];

/**
 * What the SDK threw, as the error that a person sees; one of ours is left as it is.
 *
 * It has no cause: the SDK's errors carry the request's headers, the access key id and what the server says that it signed.
 */
export function storeFault(error: unknown, act: StoreAct): DocshelfError {
  if (error instanceof DocshelfError) return error;
  const { name = '', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  // The server's word, or that of the SDK: not printed where it is no plain one.
  const code = /^[A-Za-z][A-Za-z0-9]{0,63}$/.test(name) ? name : 'unknown';
  const fault =
    FAULTS.find(([pattern]) => pattern.test(code))?.[1] ?? faultOfStatus(status, code) ?? connectionFault(error);
  return new DocshelfError('store_failed', `Cannot ${act}: ${fault.state}`, {
    next: fault.next,
    fields: { retryable: fault.retryable, storeCode: code, ...(status === undefined ? {} : { storeStatus: status }) },
  });
}

/** For `storeFault`, where the environment names none. */
export function noCredentials(): Error {
  return Object.assign(new Error('no credentials in the environment'), { name: 'NoCredentials' });
}

/** An answer to HEAD has no body that would name a code. */
function faultOfStatus(status: number | undefined, code: string): Fault | null {
  if (status === undefined) return null;
  if (status === 401 || status === 403) {
    return {
      state: `the store denies access (${code}, ${status})`,
      next: 'Allow the key s3:PutObject, s3:GetObject, s3:DeleteObject and s3:AbortMultipartUpload on the objects, and s3:ListBucket on the bucket: without the last, S3 answers 403 for an object that is not there.',
      retryable: false,
    };
  }
  if (status === 301 || status === 307) {
    return {
      state: `the store sends elsewhere (${code}, ${status})`,
      next: 'Set exportApi.store.region to the region of the bucket, and exportApi.store.endpoint to the address that answers for it.',
      retryable: false,
    };
  }
  const isTheirs = status >= 500 || status === 429;
  return {
    state: `the store answers ${status} (${code})`,
    next: isTheirs
      ? 'It was tried several times. Look at the store, then start the export again.'
      : 'Check the settings of exportApi.store against those of the store.',
    retryable: isTheirs,
  };
}

function connectionFault(error: unknown): Fault {
  const { code, message } = error as { code?: unknown; message?: unknown };
  // The SDK has no code for it.
  if (message === 'Region is missing') {
    return { state: 'the region is not known', next: 'Set exportApi.store.region.', retryable: false };
  }
  if (typeof code === 'string' && CERTIFICATE_FAULT.test(code)) {
    return {
      state: `its certificate is not trusted (${code})`,
      next: 'Where the store uses an authority of your own, put its certificate into a PEM file and name it in exportApi.store.caFile.',
      retryable: false,
    };
  }
  const errno = errnoOf(error);
  if (errno !== undefined) return { state: `it cannot be reached (${errno})`, next: CHECK_ADDRESS, retryable: true };
  return { state: 'the store cannot be asked, or its answer is none of S3', next: CHECK_ADDRESS, retryable: false };
}
