import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Secret } from '../../../src/domain/secret.ts';
import { S3BundleStore, type S3BundleStoreOptions } from '../../../src/export/stores/s3-bundle-store.ts';
import { EgressPolicy } from '../../../src/net/egress.ts';
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
/** The one account that s3rver has. */
export const KEY = 'S3RVER';

export interface S3Server {
  readonly endpoint: string;
  close(): Promise<void>;
}

/**
 * An S3 service with one bucket, in this process. It checks SigV4 signatures of headers and of links, their end and the
 * clock, but none of a call for the bucket itself; it knows no checksum of a body, no `If-Match` and `If-Range`, no versions and no encryption.
 */
export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'docshelf-s3-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: BUCKET }],
  });
  server.middleware.unshift((ctx, next) => {
    // It takes these for the same in a query with and without %: such links are for `checkPresigned`. And it leaves the slash
    // out that ends the path of a bucket.
    if (/%(?:21|27|28|29|2A)/i.test(ctx.querystring) || /^\/[^/]+\/$/.test(ctx.path)) {
      ctx.app = Object.assign(Object.create(ctx.app), { allowMismatchedSignatures: true });
    }
    return next();
  });
  const { port } = await server.run();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    close: async () => {
      server.httpServer.closeAllConnections();
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
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

/** Names of objects, up to a thousand. */
export async function listObjects(endpoint: string): Promise<string[]> {
  const client = clientOf(endpoint);
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: BUCKET }));
  client.destroy();
  return Contents.map(({ Key = '' }) => Key);
}

/** As an operator moves a bucket to another store. */
export async function copyObjects(from: string, to: string): Promise<void> {
  const client = clientOf(from);
  for (const key of await listObjects(from)) {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key: key }));
    await putObject(to, key, (await Body?.transformToByteArray()) ?? new Uint8Array());
  }
  client.destroy();
}

export function s3StoreAt(endpoint: string, options: Partial<S3BundleStoreOptions> = {}): S3BundleStore {
  return new S3BundleStore({
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
}
