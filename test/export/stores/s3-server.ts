import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '../../../src/domain/secret.ts';
import { S3BundleStore, type S3BundleStoreOptions } from '../../../src/export/stores/s3-bundle-store.ts';
import { EgressPolicy } from '../../../src/net/egress.ts';
import { egressRulesOf } from '../../net/http-client-of.ts';

/** The package has no types. */
const S3rver = createRequire(import.meta.url)('s3rver') as new (
  options: object,
) => { run(): Promise<AddressInfo>; close(): Promise<void>; httpServer: { closeAllConnections(): void } };

export const BUCKET = 'bundles';
/** The one account that s3rver has. */
export const KEY = 'S3RVER';

export interface S3Server {
  readonly endpoint: string;
  close(): Promise<void>;
}

/** An S3 service with one bucket, in this process. It looks at no SigV4 signature. */
export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'docshelf-s3-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: BUCKET }],
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

export function s3StoreAt(endpoint: string, options: Partial<S3BundleStoreOptions> = {}): S3BundleStore {
  return new S3BundleStore({
    bucket: BUCKET,
    region: 'eu-central-1',
    endpoint,
    pathStyle: true,
    prefix: '',
    credentials: { accessKeyId: new Secret(KEY), secretAccessKey: new Secret(KEY) },
    policy: new EgressPolicy(
      egressRulesOf({ allowedHosts: [URL.parse(endpoint)?.hostname ?? 'none.invalid'] }),
    ).forStore(() => null),
    nowMs: Date.now,
    ...options,
  });
}
