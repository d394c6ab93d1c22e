import { createHash, hash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Pack, pack as tarPack } from 'tar-stream';
import { isPage, MANIFEST_PATH } from '../domain/release.ts';
import { type BundleManifest, MANIFEST_FORMAT_VERSION } from './manifest.ts';

/** A file to pack. */
export interface PackedFile {
  /** Path in the archive: canonical, `/` between segments. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** What the manifest says besides the files, which packing knows. */
export interface PackManifest extends Pick<BundleManifest, 'domain' | 'version' | 'createdAt' | 'generator'> {
  /** The media type of a path. */
  readonly typeOf: (path: string) => string;
}

export interface PackOptions {
  /** In any order where the files are in memory; a stream of them must come in the order of their paths (code units). */
  readonly files: Iterable<PackedFile> | AsyncIterable<PackedFile>;
  /** The archive's file, created exclusively. */
  readonly to: string;
  /** Adds `_docshelf/manifest.json`, as the last entry. */
  readonly manifest?: PackManifest;
}

/** RFC 1952, section 2.3.1: the byte that names the operating system, and its value for "unknown". */
const GZIP_OS_AT = 9;
const GZIP_OS_UNKNOWN = 255;
const EPOCH = new Date(0);

/**
 * Packs files into a `.tar.gz`. The same files give the same bytes, from the same version of zlib: sorted, without
 * times, owners and modes of their own.
 *
 * @returns the archive's digest and bytes
 * @throws the system's own errors; the half-written archive is removed
 */
export async function packTarGz({ files, to, manifest }: PackOptions): Promise<{ sha256: string; sizeBytes: number }> {
  const handle = await open(to, 'wx', 0o644);
  const digest = createHash('sha256');
  let sizeBytes = 0;
  try {
    const tar = tarPack();
    const adding = addAll(tar, files, manifest).catch((error: unknown) => {
      tar.destroy(error as Error);
    });
    await pipeline(tar, createGzip({ level: 9 }), async (compressed: AsyncIterable<Buffer>) => {
      for await (const chunk of withUnknownSystem(compressed)) {
        digest.update(chunk);
        sizeBytes += chunk.length;
        await handle.writeFile(chunk);
      }
    });
    await adding;
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  return { sha256: digest.digest('hex'), sizeBytes };
}

async function addAll(tar: Pack, files: PackOptions['files'], manifest: PackManifest | undefined): Promise<void> {
  const listed: BundleManifest['files'] = [];
  for await (const { path, bytes } of inOrder(files)) {
    await addFile(tar, path, bytes);
    if (manifest) {
      listed.push({ path, size: bytes.length, sha256: hash('sha256', bytes), type: manifest.typeOf(path) });
    }
  }
  if (manifest) {
    const { domain, version, createdAt, generator } = manifest;
    const pageCount = listed.filter((file) => isPage(file.path)).length;
    const formatVersion = MANIFEST_FORMAT_VERSION;
    const whole: BundleManifest = { formatVersion, domain, version, createdAt, generator, pageCount, files: listed };
    await addFile(tar, MANIFEST_PATH, Buffer.from(`${JSON.stringify(whole, null, 2)}\n`));
  }
  tar.finalize();
}

/** Resolves when the entry has gone through, so that no more than one waits in memory. */
async function addFile(tar: Pack, path: string, bytes: Uint8Array): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const header = { name: path, mode: 0o644, mtime: EPOCH, uid: 0, gid: 0, type: 'file' as const };
  tar.entry(header, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), (error) => {
    if (error) reject(error);
    else resolve();
  });
  await promise;
}

async function* inOrder(files: PackOptions['files']): AsyncGenerator<PackedFile> {
  const isInMemory = Symbol.iterator in files;
  const sorted = isInMemory ? [...files].sort((a, b) => (a.path < b.path ? -1 : 1)) : files;
  let last: string | null = null;
  for await (const file of sorted) {
    if (last !== null && file.path <= last) throw new Error(`"${file.path}" is packed twice or out of order`);
    last = file.path;
    yield file;
  }
}

/** zlib writes the system that it was built for; the same files are to give the same bytes on all of them. */
async function* withUnknownSystem(compressed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let at = 0;
  for await (const chunk of compressed) {
    const index = GZIP_OS_AT - at;
    if (index >= 0 && index < chunk.length) chunk[index] = GZIP_OS_UNKNOWN;
    at += chunk.length;
    yield chunk;
  }
}
