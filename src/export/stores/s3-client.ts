import { getCACertificates } from 'node:tls';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { Secret } from '../../domain/secret.ts';
import { readCertificates } from '../../net/certificates.ts';
import { noCredentials } from './s3-faults.ts';

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
