import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import { CERTIFICATE_FAULT } from '../../net/http-faults.ts';

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
