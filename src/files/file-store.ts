import { createHash, hash, randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { constants, copyFile, type FileHandle, link, mkdir, open, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf, errnoState, rethrowAs } from '../domain/errors.ts';
import { ifThere, namesIn } from './read.ts';
import { isLinkRefused } from './write.ts';

const INCOMING = 'incoming';

const SHARD = /^[0-9a-f]{2}$/;
const STORED = /^[0-9a-f]{64}$/;

export type StoredFile = { readonly sha256: string; readonly size: number };

type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** Read-only mode, because other paths can be hard links to a stored file. */
const FILE_MODE = 0o444;
/** Maximum bytes of a file that `put` reads into memory. `put` reads a larger file twice, for the digest and for the copy. */
const SMALL_BYTES_MAX = 1024 ** 2;
const CHUNK_BYTES = 256 * 1024;

/** Files by SHA-256, shared by processes. Files are not flushed: a power cut can truncate a file, which `put` then replaces. */
export class FileStore {
  readonly #dir: string;
  readonly #prefix = randomBytes(12).toString('hex');
  #temporaries = 0;

  constructor(dir: string) {
    this.#dir = dir;
  }

  pathOf(sha256: string): string {
    return join(this.#dir, sha256.slice(0, 2), sha256);
  }

  /** @throws DocshelfError `cannot_read` for the input file, NodeJS.ErrnoException for writing */
  async put(content: Uint8Array | { readonly file: string } | { readonly chunks: Chunks }): Promise<StoredFile> {
    if (content instanceof Uint8Array) return this.putBlocking(content);
    if ('chunks' in content) return this.#write(content.chunks);
    const { file } = content;
    await using handle = await open(file, 'r').catch(cannotRead(file));
    const { size } = await handle.stat();
    if (size <= SMALL_BYTES_MAX) return this.putBlocking(await handle.readFile().catch(cannotRead(file)));
    const seen = await digestOf(readChunks(handle, file));
    if (await this.use(seen)) return seen;
    return await this.#write(readChunks(handle, file));
  }

  /** Stores bytes, and blocks the thread. Takes a third of the time of one `put`, because it does not use the thread pool. */
  putBlocking(bytes: Uint8Array): StoredFile {
    const file = { sha256: hash('sha256', bytes), size: bytes.length };
    const path = this.pathOf(file.sha256);
    if (statSync(path, { throwIfNoEntry: false })?.size === file.size) {
      const now = new Date();
      try {
        utimesSync(path, now, now);
        return file;
      } catch (error) {
        // A sweep has removed the file, so write it again.
        if (errnoOf(error) !== 'ENOENT') throw error;
      }
    }
    const temporary = this.#temporaryPath();
    try {
      for (const each of [temporary, path]) mkdirSync(dirname(each), { recursive: true });
      writeFileSync(temporary, bytes, { flag: 'wx', mode: FILE_MODE });
      renameSync(temporary, path);
      return file;
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  #temporaryPath(): string {
    this.#temporaries += 1;
    return join(this.#dir, INCOMING, `${this.#prefix}-${this.#temporaries}`);
  }

  /** Makes a hard link to a stored file, or else a copy. @throws NodeJS.ErrnoException ENOENT (not stored), EEXIST (`to` exists) */
  async link(sha256: string, to: string): Promise<void> {
    const from = this.pathOf(sha256);
    try {
      await mkdir(dirname(to), { recursive: true });
      await link(from, to);
    } catch (error) {
      if (!isLinkRefused(error)) throw error;
      await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    }
  }

  /** Removes files that are unused for `olderThanMs` and have no other hard links. Also removes partial files of this age. */
  async sweep(
    keep: ReadonlySet<string>,
    olderThanMs: number,
  ): Promise<{ readonly files: number; readonly bytes: number }> {
    const usedBeforeMs = Date.now() - olderThanMs;
    const swept = { files: 0, bytes: 0 };
    const incoming = join(this.#dir, INCOMING);
    await mkdir(incoming, { recursive: true });
    for (const shard of await namesIn(this.#dir)) {
      if (!SHARD.test(shard)) continue;
      for (const name of await namesIn(join(this.#dir, shard))) {
        if (!STORED.test(name) || keep.has(name)) continue;
        const bytes = await sweepFile(incoming, join(this.#dir, shard, name), usedBeforeMs);
        if (bytes === null) continue;
        swept.files += 1;
        swept.bytes += bytes;
      }
    }
    for (const name of await namesIn(incoming)) {
      const info = await ifThere(stat(join(incoming, name)));
      // Check the change time (ctime) too: another sweep may have just moved a file here, and the file keeps its old modification
      // time.
      if (info === null || Math.max(info.mtimeMs, info.ctimeMs) > usedBeforeMs) continue;
      await rm(join(incoming, name), { force: true });
    }
    return swept;
  }

  /** Renews the time of use of a file, so that no sweep removes it. False for a missing file, or a file of another size. */
  async use({ sha256, size }: Pick<StoredFile, 'sha256'> & Partial<StoredFile>): Promise<boolean> {
    const path = this.pathOf(sha256);
    const info = await ifThere(stat(path));
    if (info === null || info.size !== (size ?? info.size)) return false;
    const now = new Date();
    // docshelf owns the file, so it can set the times of a read-only file. If `ifThere` returns null, a sweep has removed the
    // file.
    return (await ifThere(utimes(path, now, now))) !== null;
  }

  async #write(chunks: Chunks): Promise<StoredFile> {
    const temporary = this.#temporaryPath();
    try {
      const file = await writeFile(temporary, chunks);
      const path = this.pathOf(file.sha256);
      await mkdir(dirname(path), { recursive: true });
      await rename(temporary, path);
      return file;
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }
}

async function writeFile(path: string, chunks: Chunks): Promise<StoredFile> {
  await mkdir(dirname(path), { recursive: true });
  await using handle = await open(path, 'wx', FILE_MODE);
  return await digestOf(chunks, (chunk) => handle.writeFile(chunk));
}

async function digestOf(chunks: Chunks, each?: (chunk: Uint8Array) => Promise<void>): Promise<StoredFile> {
  const digest = createHash('sha256');
  let size = 0;
  for await (const chunk of chunks) {
    digest.update(chunk);
    size += chunk.length;
    await each?.(chunk);
  }
  return { sha256: digest.digest('hex'), size };
}

async function* readChunks(handle: FileHandle, file: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; ; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, at).catch(cannotRead(file));
    if (bytesRead === 0) return;
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

const cannotRead = (file: string): ((cause: unknown) => never) =>
  rethrowAs('cannot_read', `read "${file}"`, 'Check that the file exists and that docshelf can read it.', errnoState);

/**
 * Removes an unused file. Moves the file away, and then checks its time of last use again, because a concurrent `put` can renew this
 * time. Returns null if the file is in use or missing.
 */
async function sweepFile(incoming: string, path: string, usedBeforeMs: number): Promise<number | null> {
  const isUnused = (info: { mtimeMs: number; nlink: number }) => info.mtimeMs <= usedBeforeMs && info.nlink === 1;
  const before = await ifThere(stat(path));
  if (before === null || !isUnused(before)) return null;
  const aside = join(incoming, randomBytes(12).toString('hex'));
  await ifThere(rename(path, aside));
  const after = await ifThere(stat(aside));
  if (after === null) return null;
  if (isUnused(after)) {
    await rm(aside);
    return after.size;
  }
  await rename(aside, path);
  return null;
}
