import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Secret } from '../../../src/domain/secret.ts';
import { S3BundleStore, type S3BundleStoreOptions } from '../../../src/export/stores/s3-bundle-store.ts';
import { EgressPolicy } from '../../../src/net/egress.ts';
import { onFileEnd } from '../../helpers/file-end.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { egressRulesOf } from '../../net/http-client-of.ts';

/** The package has no types. */
const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as new (
  options: object,
) => {
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
  readonly middleware: ((
    ctx: { app: object; querystring: string; path: string },
    next: () => Promise<void>,
  ) => Promise<void>)[];
  readonly httpServer: { closeAllConnections(): void };
};

export const BUCKET = 'bundles';
/** The only account of s3rver. */
export const KEY = 'S3RVER';

/** `exportApi.store` of a config for this server. */
export const storeAt = (endpoint: string) => ({
  kind: 's3',
  bucket: BUCKET,
  region: 'eu-central-1',
  endpoint,
  pathStyle: true,
  accessKeyId: KEY,
  secretAccessKey: KEY,
});

export interface S3Server {
  readonly endpoint: string;
  close(): Promise<void>;
}

/**
 * In-process S3 service with one bucket. It checks SigV4 signatures of headers and links, expiry and clock, except for calls of
 * the bucket itself. It lacks body checksums, `If-Match`, `If-Range`, versions and encryption.
 * @param port Default: a free one.
 */
export async function startS3Server(port = 0): Promise<S3Server> {
  const directory = newFolder();
  const server = new S3rver({
    address: '127.0.0.1',
    port,
    silent: true,
    directory,
    configureBuckets: [{ name: BUCKET }],
  });
  server.middleware.unshift((ctx, next) => {
    // s3rver does not distinguish these in a query with and without %, so `checkPresigned` checks such links. It also omits the
    // final slash in the path of a bucket.
    if (/%(?:21|27|28|29|2A)/i.test(ctx.querystring) || /^\/[^/]+\/$/.test(ctx.path)) {
      ctx.app = Object.assign(Object.create(ctx.app), { allowMismatchedSignatures: true });
    }
    return next();
  });
  const address = await server.run();
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    server.httpServer.closeAllConnections();
    closed ??= server.close();
    return closed;
  };
  onFileEnd(close);
  return { endpoint: `http://127.0.0.1:${address.port}`, close };
}

const clientOf = (endpoint: string): S3Client =>
  new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: KEY, secretAccessKey: KEY },
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });

export async function putObject(endpoint: string, key: string, body: Uint8Array): Promise<void> {
  const client = clientOf(endpoint);
  await client.send(new PutObjectCommand({ Bucket: BUCKET, Key: key, Body: body }));
  client.destroy();
}

/** Names of objects, at most 1,000. */
export async function listObjects(endpoint: string): Promise<string[]> {
  const client = clientOf(endpoint);
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: BUCKET }));
  client.destroy();
  return Contents.map(({ Key = '' }) => Key);
}

/** Copies all objects, as an operator does to move a bucket to another store. */
export async function copyObjects(from: string, to: string): Promise<void> {
  const client = clientOf(from);
  for (const key of await listObjects(from)) {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key: key }));
    await putObject(to, key, (await Body?.transformToByteArray()) ?? new Uint8Array());
  }
  client.destroy();
}

/** Creates a store, which is closed after the last test of the file. */
export function s3StoreAt(endpoint: string, options: Partial<S3BundleStoreOptions> = {}): S3BundleStore {
  const store = new S3BundleStore({
    bucket: BUCKET,
    region: 'eu-central-1',
    endpoint,
    pathStyle: true,
    prefix: '',
    encryption: null,
    retryTools: { sleep: async () => {}, random: () => 0 },
    credentials: { accessKeyId: new Secret(KEY), secretAccessKey: new Secret(KEY) },
    policy: new EgressPolicy(
      egressRulesOf({ allowedHosts: [URL.parse(endpoint)?.hostname ?? 'none.invalid'] }),
    ).forStore(() => null),
    nowMs: Date.now,
    ...options,
  });
  onFileEnd(() => store.close());
  return store;
}
