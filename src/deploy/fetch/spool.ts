import { createHash, type Hash, randomBytes } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { linkWithoutSecrets, type Secret } from '../../domain/secret.ts';
import { membersOf } from '../../domain/shape.ts';
import { type FileLock, lockFile } from '../../files/file-lock.ts';
import { openToAppend, replaceFile } from '../../files/index.ts';

/**
 * The spool folder: bundles on their way in.
 *
 *     lock                       who holds it owns the resumable parts; never deleted
 *     <key>.part, <key>.json     a part that may be resumed, and the validator of its content
 *     <key>.<random>.part        a part of a process that found the lock taken; never resumed
 *
 * The key is the SHA-256 of the link without its query, which changes with each renewal of a presigned link.
 */
export class Part {
  bytes = 0;
  readonly #base: string;
  readonly #file: string;
  readonly #lock: FileLock | null;
  #etag: string | null = null;
  #hash: Hash = createHash('sha256');
  #handle: FileHandle | null = null;

  private constructor(base: string, lock: FileLock | null) {
    this.#base = base;
    this.#file = lock === null ? `${base}.${randomName()}.part` : `${base}.part`;
    this.#lock = lock;
  }

  /** The link's part: what an earlier attempt left, if younger than `oldestMs` (since 1970), else empty. */
  static async open(spoolDir: string, link: Secret, oldestMs: number): Promise<Part> {
    const part = new Part(join(spoolDir, keyOf(link)), lockSpool(spoolDir));
    try {
      if (part.#lock !== null) await part.#takeUp(oldestMs);
      return part;
    } catch (error) {
      await part.release();
      throw error;
    }
  }

  get resume(): { readonly offset: number; readonly etag: string } | null {
    return this.bytes > 0 && this.#etag !== null ? { offset: this.bytes, etag: this.#etag } : null;
  }

  get digest(): string {
    return this.#hash.copy().digest('hex');
  }

  async restart(etag: string | null): Promise<void> {
    await this.discard();
    this.#handle = await open(this.#file, 'wx', 0o600);
    this.#etag = this.#lock === null ? null : etag;
    // Before the first byte: a validator on disk never names other bytes than those beside it.
    if (this.#etag !== null) await replaceFile(`${this.#base}.json`, JSON.stringify({ etag: this.#etag }));
  }

  async append(chunk: Uint8Array): Promise<void> {
    if (this.#handle === null) throw new Error('append() before restart()');
    try {
      await this.#handle.appendFile(chunk);
    } catch (error) {
      // On a full disk the part would only keep it full.
      await this.discard();
      throw error;
    }
    this.#hash.update(chunk);
    this.bytes += chunk.length;
  }

  async complete(file: string): Promise<void> {
    await this.#closeFile();
    await rename(this.#file, file);
    await this.discard();
  }

  async discard(): Promise<void> {
    await this.#closeFile();
    await rm(this.#file, { force: true });
    if (this.#lock !== null) await rm(`${this.#base}.json`, { force: true });
    this.bytes = 0;
    this.#etag = null;
    this.#hash = createHash('sha256');
  }

  async release(): Promise<void> {
    try {
      if (this.resume === null) await this.discard();
      else await this.#closeFile();
    } finally {
      this.#lock?.close();
    }
  }

  async #takeUp(oldestMs: number): Promise<void> {
    const info = await lstat(this.#file).catch(() => null);
    const etag = await readEtag(`${this.#base}.json`);
    if (info?.isFile() !== true || etag === null || info.mtimeMs < oldestMs) return;
    for await (const chunk of createReadStream(this.#file) as AsyncIterable<Buffer>) {
      this.#hash.update(chunk);
      this.bytes += chunk.length;
    }
    this.#etag = etag;
    this.#handle = await openToAppend(this.#file);
  }

  async #closeFile(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close();
  }
}

/**
 * Removes parts of other links than `keepLink` and all older than `maxAgeMs`; nothing while another process downloads, nor
 * where no fetch has made the folder yet.
 */
export async function sweepSpool(
  spoolDir: string,
  keepLink: Secret | null,
  nowMs: number,
  maxAgeMs: number,
): Promise<void> {
  if (!existsSync(spoolDir)) return;
  const lock = lockSpool(spoolDir);
  if (lock === null) return;
  try {
    const keepKey = keepLink === null ? null : keyOf(keepLink);
    for (const name of await readdir(spoolDir)) {
      const key = /^([0-9a-f]{64})(?:\.[0-9a-f]{16})?\.(?:part|json|lock|done)$/.exec(name)?.[1];
      if (key === undefined) continue;
      const file = join(spoolDir, name);
      // Those with a random name belong to one fetch, perhaps a running one: age alone decides.
      const isResumable = name === `${key}.part` || name === `${key}.json`;
      const info = await stat(file).catch(() => null);
      const isOld = info !== null && nowMs - info.mtimeMs > maxAgeMs;
      if (isOld || (isResumable && key !== keepKey)) await rm(file, { force: true });
    }
  } finally {
    lock.close();
  }
}

/** The right to the resumable parts; null where another fetch has it, and where the file system knows no locks. */
function lockSpool(spoolDir: string): FileLock | null {
  const lock = lockFile(join(spoolDir, 'lock'), 'exclusive');
  return lock === 'taken' ? null : lock;
}

/** Null where there is none, or one that a crash left half written. */
async function readEtag(file: string): Promise<string | null> {
  const { etag } = membersOf<{ etag: string }>(await readFile(file, 'utf8').catch(() => null));
  return typeof etag === 'string' ? etag : null;
}

function keyOf(link: Secret): string {
  return createHash('sha256').update(linkWithoutSecrets(link.reveal())).digest('hex');
}

function randomName(): string {
  return randomBytes(8).toString('hex');
}
