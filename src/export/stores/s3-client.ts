import type { S3Client } from '@aws-sdk/client-s3';
import type { S3Place } from '../../domain/egress.ts';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import type { EgressPolicy } from '../../net/egress.ts';
import { CERTIFICATE_FAULT } from '../../net/http-response.ts';
import { openS3Client, s3ConfigOf } from '../../net/s3.ts';
import { type S3FaultKind, s3FaultOf } from '../../net/s3-faults.ts';

export type S3Encryption = { readonly algorithm: 'AES256' | 'aws:kms'; readonly kmsKeyId: string | null };

export interface S3Settings extends S3Place {
  readonly bucket: string;
  readonly prefix: string;
  readonly encryption: S3Encryption | null;
  readonly credentials: { readonly accessKeyId: Secret; readonly secretAccessKey: Secret } | null;
  readonly policy: EgressPolicy;
}

const CONNECT_MS_MAX = 10_000;
const IDLE_MS_MAX = 60_000;
/** The SDK waits longer before each attempt, and does not repeat requests that the store rejects for good. */
const ATTEMPTS_MAX = 4;

export function createS3Client(settings: S3Settings): S3Client {
  const { policy, credentials } = settings;
  const config = {
    ...s3ConfigOf(settings),
    ...(credentials === null ? {} : { credentials: revealed(credentials) }),
    maxAttempts: ATTEMPTS_MAX,
  };
  const timeouts = { connectionTimeout: CONNECT_MS_MAX, socketTimeout: IDLE_MS_MAX };
  return openS3Client(policy, config, timeouts, 'exportApi.store.caFile');
}

function revealed({ accessKeyId, secretAccessKey }: NonNullable<S3Settings['credentials']>) {
  return { accessKeyId: accessKeyId.reveal(), secretAccessKey: secretAccessKey.reveal() };
}

export type StoreVerb = 'store' | 'look for' | 'link to' | 'read' | 'remove';
export type StoreAct = `${StoreVerb} ${'bundle' | 'file'} "${string}" in bucket "${string}"`;

type Fault = { readonly state: string; readonly next: string; readonly retryable: boolean };
const lasting = (state: string, next: string): Fault => ({ state, next, retryable: false });
const passing = (state: string, next: string): Fault => ({ state, next, retryable: true });

const CHECK_CREDENTIALS = 'Check exportApi.store.accessKeyId and secretAccessKey, or the variables in the environment.';
const CHECK_ADDRESS = 'Check exportApi.store.endpoint, the host name and the network.';

const NEXT: Readonly<Record<S3FaultKind, string>> = {
  credentials: CHECK_CREDENTIALS,
  no_credentials:
    'Set exportApi.store.accessKeyId and secretAccessKey, or in the environment AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE; docshelf does not use the metadata service of the machine.',
  clock: 'Synchronize the clock of this machine: the store rejects requests that differ by more than 15 minutes.',
  no_bucket: 'Create the bucket, or correct exportApi.store.bucket.',
  region: 'Set exportApi.store.region to the region of the bucket.',
  archived: 'Restore the object, and store bundles in a storage class with immediate access.',
  upload: 'Start the export again; if it fails again, check the lifecycle rules of the bucket.',
  kms: 'Check exportApi.store.kmsKeyId: the key must be enabled, in the region of the bucket, and allow kms:GenerateDataKey and kms:Decrypt.',
  bytes: 'Start the export again; if it fails again, check the proxies between docshelf and the store.',
};

const PASSING: ReadonlySet<S3FaultKind> = new Set(['bytes', 'upload']);

function faultOfCode(code: string): Fault | null {
  if (code === 'TimeoutError') return passing('the store stopped responding', CHECK_ADDRESS);
  const found = s3FaultOf(code);
  return found && { state: found.state, next: NEXT[found.kind], retryable: PASSING.has(found.kind) };
}

/** The SDK's error for an operator. It drops the cause, which contains headers and the access key id. */
export function storeFault(error: unknown, act: StoreAct): DocshelfError {
  if (error instanceof DocshelfError) return error;
  const { name = '', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  // Error code from the server. Print it only if it is a plain word.
  const code = /^[A-Za-z][A-Za-z0-9.]{0,63}$/.test(name) ? name : 'unknown';
  const fault = faultOfCode(code) ?? faultOfStatus(status, code) ?? connectionFault(error);
  return new DocshelfError('store_failed', `Cannot ${act}: ${fault.state}`, {
    next: fault.next,
    fields: { retryable: fault.retryable, storeCode: code, ...(status === undefined ? {} : { storeStatus: status }) },
  });
}

/** A response to HEAD has no body with an error code. */
function faultOfStatus(status: number | undefined, code: string): Fault | null {
  if (status === undefined) return null;
  if (status === 401 || status === 403) {
    return lasting(
      `the store denies access (${code}, ${status})`,
      'Allow the key s3:PutObject, s3:GetObject, s3:DeleteObject and s3:AbortMultipartUpload on the objects, and s3:ListBucket on the bucket: without the last, S3 responds with 403 if an object does not exist.',
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
    : lasting(state, 'Check the settings of exportApi.store against those of the store.');
}

function connectionFault(error: unknown): Fault {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (message === 'Region is missing') return lasting('the region is not known', 'Set exportApi.store.region.');
  if (typeof code === 'string' && CERTIFICATE_FAULT.test(code)) {
    return lasting(
      `its certificate is not trusted (${code})`,
      'If the store uses your own certificate authority, put its certificate into a PEM file and set exportApi.store.caFile.',
    );
  }
  if (code === 'ADDRESS_REFUSED') {
    return lasting(
      'its host may not be contacted',
      'Add it to network.allowedHosts, or correct exportApi.store.endpoint.',
    );
  }
  const errno = errnoOf(error);
  if (errno !== undefined) return passing(`it cannot be reached (${errno})`, CHECK_ADDRESS);
  return lasting('docshelf cannot reach the store, or its response is not from S3', CHECK_ADDRESS);
}
