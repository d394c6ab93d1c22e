import { hash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { Lanes } from '../../files/lanes.ts';
import { bundleBytes, type PackedBundle } from './bundle-bytes.ts';

export interface S3Object {
  readonly Bucket: string;
  readonly Key: string;
}

/** The smallest part that S3 takes. 10,000 parts may be: 48 GiB, six times the largest bundle. */
export const PART_BYTES = 5 * 1024 ** 2;
/** With their bytes they take 20 MiB of memory, and hide the time from one request to the next. */
const PARTS_AT_ONCE = 4;
const GIVE_UP_MS_MAX = 10_000;

/**
 * Uploads a packed archive. The object is there whole or not at all: what is more than one part long becomes reachable with
 * the last call, after all bytes were read and found to be those of the digest. Each part goes with its SHA-256, and a store
 * that knows this header refuses one that was damaged on the way.
 *
 * @throws DocshelfError as `bundleBytes`; the SDK's errors
 */
export async function uploadBundle(
  client: S3Client,
  object: S3Object,
  bundle: PackedBundle,
  signal: AbortSignal,
): Promise<void> {
  const described = { ...object, ContentType: 'application/gzip', Metadata: { sha256: bundle.sha256 } };
  if (bundle.sizeBytes > PART_BYTES) {
    await uploadParts(client, described, bundle, signal);
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of bundleBytes(bundle, PART_BYTES, signal)) chunks.push(chunk);
  const Body = Buffer.concat(chunks);
  const put = new PutObjectCommand({ ...described, Body, ChecksumSHA256: checksum(Body) });
  await client.send(put, { abortSignal: signal });
}

async function uploadParts(
  client: S3Client,
  { Bucket, Key, ...described }: S3Object & { ContentType: string; Metadata: { sha256: string } },
  bundle: PackedBundle,
  signal: AbortSignal,
): Promise<void> {
  const options = { abortSignal: signal };
  const create = new CreateMultipartUploadCommand({ Bucket, Key, ...described, ChecksumAlgorithm: 'SHA256' });
  const { UploadId } = await client.send(create, options);
  const upload = { Bucket, Key, UploadId };
  const lanes = new Lanes(PARTS_AT_ONCE);
  const parts: CompletedPart[] = [];
  let read = 0;
  try {
    for await (const Body of bundleBytes(bundle, PART_BYTES, signal)) {
      read += 1;
      const PartNumber = read;
      await lanes.run(async () => {
        const part = new UploadPartCommand({ ...upload, PartNumber, Body, ChecksumSHA256: checksum(Body) });
        const { ETag, ChecksumSHA256 } = await client.send(part, options);
        // A store that does not answer with the checksum does not know it, and may not want to hear of it again.
        parts[PartNumber - 1] = { PartNumber, ETag, ...(ChecksumSHA256 === undefined ? {} : { ChecksumSHA256 }) };
      });
    }
    await lanes.drain();
    await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } }), options);
  } catch (error) {
    await lanes.settle();
    // Parts that are left cost money and are reachable for nobody. Where the store does not hear this either, a lifecycle
    // rule of the bucket is what removes them.
    await client
      .send(new AbortMultipartUploadCommand(upload), { abortSignal: AbortSignal.timeout(GIVE_UP_MS_MAX) })
      .catch(() => undefined);
    throw error;
  }
}

function checksum(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64');
}
