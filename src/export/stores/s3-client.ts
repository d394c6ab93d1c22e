import { isIP } from 'node:net';
import type { S3Client } from '@aws-sdk/client-s3';
import { bareHost } from '../../domain/egress.ts';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import type { EgressPolicy } from '../../net/egress.ts';
import { CERTIFICATE_FAULT } from '../../net/http-response.ts';
import { openS3Client } from '../../net/s3.ts';

export interface S3Settings {
  readonly bucket: string;
  /** Null: `us-east-1` with an endpoint, else the environment's. */
  readonly region: string | null;
  /** URL of another S3 service; null: Amazon's. */
  readonly endpoint: string | null;
  readonly pathStyle: boolean;
  readonly prefix: string;
  /** Null: those of the environment. */
  readonly credentials: { readonly accessKeyId: Secret; readonly secretAccessKey: Secret } | null;
  readonly policy: EgressPolicy;
}

const CONNECT_MS_MAX = 10_000;
const IDLE_MS_MAX = 60_000;
/** The SDK waits longer before each, and does not repeat what the store refuses for good. */
const ATTEMPTS_MAX = 4;

/** Nothing is asked yet. @throws DocshelfError `cannot_read` or `config_invalid` for the file of certificates */
export function createS3Client(settings: S3Settings): S3Client {
  const { endpoint, pathStyle, policy, credentials } = settings;
  const region = settings.region ?? (endpoint === null ? null : 'us-east-1');
  const config = {
    ...(region === null ? {} : { region }),
    ...(endpoint === null ? {} : { endpoint }),
    ...(credentials === null ? {} : { credentials: revealed(credentials) }),
    // By itself the SDK puts a bucket with dots before an address, where it makes no URL.
    forcePathStyle: pathStyle || (endpoint !== null && isIP(bareHost(new URL(endpoint).hostname)) !== 0),
    maxAttempts: ATTEMPTS_MAX,
    // Uploads carry our checksums; older services refuse those that the SDK would add.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  } as const;
  const timeouts = { connectionTimeout: CONNECT_MS_MAX, socketTimeout: IDLE_MS_MAX };
  return openS3Client(policy, config, timeouts, 'exportApi.store.caFile');
}

function revealed({ accessKeyId, secretAccessKey }: NonNullable<S3Settings['credentials']>) {
  return { accessKeyId: accessKeyId.reveal(), secretAccessKey: secretAccessKey.reveal() };
}

export type StoreAct =
  `${'store' | 'look for' | 'link to' | 'read' | 'remove'} bundle "${string}" in bucket "${string}"`;

interface Fault {
  readonly state: string;
  readonly next: string;
  readonly retryable: boolean;
}
const lasting = (state: string, next: string): Fault => ({ state, next, retryable: false });
const passing = (state: string, next: string): Fault => ({ state, next, retryable: true });

const CHECK_CREDENTIALS =
  'Check exportApi.store.accessKeyId and secretAccessKey, or what the environment has in their place.';
const CHECK_ADDRESS = 'Check exportApi.store.endpoint, the host name and the network.';

/** Error codes of S3's API reference that an operator can act on; those of other services are alike. */
const FAULTS: readonly (readonly [code: RegExp, fault: Fault])[] = [
  [
    /^(?:InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|ExpiredToken|TokenRefreshRequired)$/,
    lasting('the store does not accept the credentials', CHECK_CREDENTIALS),
  ],
  [
    /^(?:RequestTimeTooSkewed|RequestExpired)$/,
    lasting(
      "this machine's clock and the store's are too far apart",
      'Set the clock of this machine: the store takes requests that are at most 15 minutes off.',
    ),
  ],
  [/^NoSuchBucket$/, lasting('there is no such bucket', 'Create the bucket, or correct exportApi.store.bucket.')],
  [
    /^(?:PermanentRedirect|TemporaryRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/,
    lasting('the bucket is in another region', 'Set exportApi.store.region to the region of the bucket.'),
  ],
  [
    /^(?:BadDigest|InvalidDigest|XAmzContentSHA256Mismatch|XAmzContentChecksumMismatch)$/,
    passing(
      'what arrived were other bytes than were sent, and the store refused them',
      'Start the export again; where it happens twice, look at proxies between docshelf and the store.',
    ),
  ],
  [
    /^CredentialsProviderError$/,
    lasting(
      'there are no credentials for the store',
      "Set exportApi.store.accessKeyId and secretAccessKey, or in the environment AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE; the machine's metadata service is not asked.",
    ),
  ],
  [/^TimeoutError$/, passing('the store stopped answering', CHECK_ADDRESS)],
];

/** The SDK's error for an operator. It has no cause: that carries headers and the access key id. */
export function storeFault(error: unknown, act: StoreAct): DocshelfError {
  if (error instanceof DocshelfError) return error;
  const { name = '', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  // The server's word: not printed where it is no plain one.
  const code = /^[A-Za-z][A-Za-z0-9]{0,63}$/.test(name) ? name : 'unknown';
  const fault =
    FAULTS.find(([pattern]) => pattern.test(code))?.[1] ?? faultOfStatus(status, code) ?? connectionFault(error);
  return new DocshelfError('store_failed', `Cannot ${act}: ${fault.state}`, {
    next: fault.next,
    fields: { retryable: fault.retryable, storeCode: code, ...(status === undefined ? {} : { storeStatus: status }) },
  });
}

/** An answer to HEAD has no body that would name a code. */
function faultOfStatus(status: number | undefined, code: string): Fault | null {
  if (status === undefined) return null;
  if (status === 401 || status === 403) {
    return lasting(
      `the store denies access (${code}, ${status})`,
      'Allow the key s3:PutObject, s3:GetObject, s3:DeleteObject and s3:AbortMultipartUpload on the objects, and s3:ListBucket on the bucket: without the last, S3 answers 403 for an object that is not there.',
    );
  }
  if (status === 301 || status === 307) {
    return lasting(
      `the store sends elsewhere (${code}, ${status})`,
      'Set exportApi.store.region to the region of the bucket, and exportApi.store.endpoint to the address that answers for it.',
    );
  }
  const state = `the store answers ${status} (${code})`;
  return status >= 500 || status === 429
    ? passing(state, 'It was tried several times. Look at the store, then start the export again.')
    : lasting(state, 'Check the settings of exportApi.store against those of the store.');
}

function connectionFault(error: unknown): Fault {
  const { code, message } = error as { code?: unknown; message?: unknown };
  // The SDK has no code for it.
  if (message === 'Region is missing') return lasting('the region is not known', 'Set exportApi.store.region.');
  if (typeof code === 'string' && CERTIFICATE_FAULT.test(code)) {
    return lasting(
      `its certificate is not trusted (${code})`,
      'Where the store uses an authority of your own, put its certificate into a PEM file and name it in exportApi.store.caFile.',
    );
  }
  if (code === 'ADDRESS_REFUSED') {
    return lasting(
      'its host may not be asked',
      'Name it in network.allowedHosts, or correct exportApi.store.endpoint.',
    );
  }
  const errno = errnoOf(error);
  if (errno !== undefined) return passing(`it cannot be reached (${errno})`, CHECK_ADDRESS);
  return lasting('the store cannot be asked, or its answer is none of S3', CHECK_ADDRESS);
}
