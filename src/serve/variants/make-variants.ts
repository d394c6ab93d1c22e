import { createReadStream } from 'node:fs';
import { link, mkdir, open, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, crc32, createBrotliCompress, createGzip } from 'node:zlib';
import { errnoOf } from '../../domain/errors.ts';
import type { FileEntry, FileTable } from '../../domain/release.ts';
import { ifThere, readFileTable, replaceFile, sweepTemporaries, temporaryIn } from '../../files/index.ts';
import { takesAdditions } from '../../web/additions/takes-additions.ts';
import { isCompressible, isCompressibleType } from '../../web/compressible.ts';
import { ImmutableNames } from '../../web/immutable-names.ts';
import { isMountable } from '../../web/mount/mountable.ts';
import type { Coding } from '../encoding.ts';
import type { SiteFileOnDisk } from '../site-bytes.ts';
import { COMPRESSED_BYTES_MIN } from '../site-file.ts';
import { checked, OtherBytes } from './checked-content.ts';
import { mostLinked } from './most-linked.ts';
import { decodesTo } from './sibling.ts';
import {
  areMade,
  CHUNK_BYTES,
  EXTENSION,
  HEADER_BYTES,
  madeFile,
  soundVariant,
  VARIANTS,
  VARIANTS_FORMAT,
  variantHeader,
  variantName,
} from './variant-file.ts';

export interface VariantsOrder {
  readonly releaseDir: string;
  /** Folders of other releases: what is made there of the same bytes is linked to. */
  readonly formerDirs: readonly string[];
  readonly builtFor: string;
  /** True where what names addresses is rewritten as it is read: such files are asked for by other bytes. */
  readonly isMounted: boolean;
  /** True where something is added to pages: the same holds of them. */
  readonly hasAdditions: boolean;
  /** Of the volume, that are left alone. */
  readonly reserveBytes: number;
  /** Digests of files that took the process along. */
  readonly leftOut: readonly string[];
}

export interface MadeVariants {
  readonly made: number;
  readonly linked: number;
  /** Of those made, on disk. */
  readonly bytes: number;
  /** False where there was no room for more. */
  readonly isAll: boolean;
}

/** Pages that are read most: at .5 MB/s (measured) some minutes. */
const LINKED_PAGES = 500;
/** A search index or an API's description, as large as many pages. */
const LARGE_BYTES = 1024 ** 2;
/** Above that Brotli 11, at .5 MB/s, would be at it for more than a minute; 9 has 20 MB/s. */
const BEST_BYTES_MAX = 32 * 1024 ** 2;
/** Smaller ones are checked whole wherever they are read; larger ones may be sent by their size alone. */
const FLUSHED_BYTES_MIN = 1024 ** 2;
/** What takes long is last. */
const CODINGS = ['gzip', 'zstd', 'br'] as const;
const NO_SPACE = ['ENOSPC', 'EDQUOT'];

/**
 * Goes on where it was: what is there and whole stays.
 * @param onFile the digest of the one that is next
 * @throws the system's own errors
 */
export async function makeVariants(order: VariantsOrder, onFile: (sha256: string) => void): Promise<MadeVariants> {
  const { releaseDir, isMounted, hasAdditions } = order;
  const folder = join(releaseDir, VARIANTS);
  const writer = new VariantWriter(order, await readFileTable(releaseDir), onFile);
  try {
    await sweepTemporaries([folder], Date.now());
    if (await areMade(releaseDir)) await writer.check();
    if (await areMade(releaseDir)) return writer.made(true);
    // The release itself is not made anew: it may have been removed.
    await mkdir(folder).catch((error: unknown) => {
      if (errnoOf(error) !== 'EEXIST') throw error;
    });
    const isAll = await writer.run();
    if (isAll && !isMounted && !hasAdditions && !writer.hasLost)
      await replaceFile(madeFile(releaseDir), VARIANTS_FORMAT);
    return writer.made(isAll);
  } catch (error) {
    if (NO_SPACE.includes(errnoOf(error) ?? '')) return writer.made(false);
    throw error;
  }
}

class VariantWriter {
  readonly #order: VariantsOrder;
  readonly #folder: string;
  readonly #files: FileTable;
  readonly #onFile: (sha256: string) => void;
  readonly #leftOut: ReadonlySet<string>;
  #made = 0;
  #linked = 0;
  #bytes = 0;
  /** True where another process took a file away before it had its name. */
  hasLost = false;

  constructor(order: VariantsOrder, files: FileTable, onFile: (sha256: string) => void) {
    this.#order = order;
    this.#folder = join(order.releaseDir, VARIANTS);
    this.#files = files;
    this.#onFile = onFile;
    this.#leftOut = new Set(order.leftOut);
  }

  made(isAll: boolean): MadeVariants {
    return { made: this.#made, linked: this.#linked, bytes: this.#bytes, isAll };
  }

  /** What is damaged is no longer `made`. */
  async check(): Promise<void> {
    for (const entry of this.#files.values()) {
      if (!this.#isWanted(entry)) continue;
      for (const coding of CODINGS) await soundVariant(this.#order.releaseDir, entry.sha256, coding);
    }
  }

  /** False where there is no room for more. */
  async run(): Promise<boolean> {
    for (const coding of CODINGS) {
      if (!(await this.#makeAll(coding))) return false;
    }
    return true;
  }

  async #makeAll(coding: Coding): Promise<boolean> {
    const isMade = await this.#choice(coding);
    for (const entry of this.#files.values()) {
      if (!this.#isWanted(entry)) continue;
      try {
        if (!(await this.#make(entry, coding, isMade(entry)))) return false;
      } catch (error) {
        // A file that is missing is not served either; a release that is, needs nothing any more.
        if (errnoOf(error) !== 'ENOENT' || (await ifThere(stat(this.#folder))) === null) throw error;
      }
    }
    return true;
  }

  /** True of files that are compressed here; the others have a form where the bundle brings one. */
  async #choice(coding: Coding): Promise<(entry: FileEntry) => boolean> {
    if (coding !== 'br') return () => coding === 'gzip';
    const names = new ImmutableNames(this.#files);
    const linked = await mostLinked(this.#files, this.#order, LINKED_PAGES);
    return ({ path, size }) => size >= LARGE_BYTES || linked.has(path) || names.has(path);
  }

  #isWanted({ path, type, size, sha256 }: FileEntry): boolean {
    if (size < COMPRESSED_BYTES_MIN || !isCompressibleType(type) || this.#leftOut.has(sha256)) return false;
    const { isMounted, hasAdditions } = this.#order;
    return !(isMounted && isMountable(path, type, size)) && !(hasAdditions && takesAdditions(type, size));
  }

  /** By the cheapest way that there is. False where there is no room for it. */
  async #make(entry: FileEntry, coding: Coding, isMade: boolean): Promise<boolean> {
    const { releaseDir } = this.#order;
    const { path, sha256, size } = entry;
    const sibling = this.#files.get(`${path}.${EXTENSION[coding]}`);
    if (!isMade && sibling === undefined) return true;
    if ((await soundVariant(releaseDir, sha256, coding)) !== null || (await this.#link(sha256, coding))) return true;
    const { bavail, bsize } = await statfs(releaseDir);
    if (bavail * bsize < this.#order.reserveBytes + size) return false;
    this.#onFile(sha256);
    if (sibling !== undefined && sibling.size < size && (await decodesTo(entry, this.#onDisk(sibling), coding))) {
      await this.#write(entry, coding, sibling, null);
    } else if (isMade && isCompressible(entry.type, await this.#head(entry))) {
      await this.#write(entry, coding, entry, compressorOf(coding, size));
    }
    return true;
  }

  async #link(sha256: string, coding: Coding): Promise<boolean> {
    for (const former of this.#order.formerDirs) {
      const found = await soundVariant(former, sha256, coding);
      if (found === null) continue;
      const target = join(this.#folder, variantName(sha256, coding));
      await rm(target, { force: true });
      // Some file systems have few links for a file, or none.
      const isLinked = await link(found.onDisk.diskPath, target).then(
        () => true,
        () => false,
      );
      this.#linked += Number(isLinked);
      return isLinked;
    }
    return false;
  }

  /** @param transform null: as it is */
  async #write(entry: FileEntry, coding: Coding, source: FileEntry, transform: Duplex | null): Promise<void> {
    const temporary = temporaryIn(this.#folder);
    try {
      await using handle = await open(temporary, 'wx');
      let [bytes, crc] = [0, 0];
      const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
        for await (const chunk of chunks) {
          crc = crc32(chunk, crc);
          await handle.write(chunk, 0, chunk.length, HEADER_BYTES + bytes);
          bytes += chunk.length;
        }
      };
      const read = checked(source)(this.#read(source));
      await (transform === null ? write(read) : pipeline(read, transform, write));
      if (bytes >= entry.size) return;
      await handle.write(variantHeader(bytes, crc), 0, HEADER_BYTES, 0);
      if (bytes >= FLUSHED_BYTES_MIN) await handle.sync();
      await rename(temporary, join(this.#folder, variantName(entry.sha256, coding))).catch((error: unknown) => {
        this.hasLost = true;
        throw error;
      });
      this.#made += 1;
      this.#bytes += bytes;
    } catch (error) {
      if (!(error instanceof OtherBytes)) throw error;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  async #head(entry: FileEntry): Promise<Buffer> {
    await using handle = await open(this.#onDisk(entry).diskPath);
    return (await handle.read(Buffer.alloc(16), 0, 16, 0)).buffer;
  }

  #read(entry: FileEntry): AsyncIterable<Buffer> {
    return createReadStream(this.#onDisk(entry).diskPath, { highWaterMark: CHUNK_BYTES });
  }

  #onDisk({ path, size }: FileEntry): SiteFileOnDisk {
    return { diskPath: join(this.#order.releaseDir, 'site', path), size };
  }
}

function compressorOf(coding: Coding, size: number): Duplex {
  if (coding === 'gzip') return createGzip({ level: constants.Z_BEST_COMPRESSION });
  const quality = size > BEST_BYTES_MAX ? 9 : constants.BROTLI_MAX_QUALITY;
  return createBrotliCompress({
    params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: size },
  });
}
