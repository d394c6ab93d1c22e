import { linkSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { errnoOf } from '../../domain/errors.ts';
import type { FileEntry, FileTable } from '../../domain/release.ts';
import { ifThere, readFileTable, replaceFile, sweepTemporaries, temporaryIn } from '../../files/index.ts';
import { takesAdditions } from '../../web/additions/takes-additions.ts';
import { isCompressibleType } from '../../web/compressible.ts';
import { ImmutableNames } from '../../web/immutable-names.ts';
import { isMountable } from '../../web/mount/mountable.ts';
import type { Coding } from '../encoding.ts';
import type { SiteFileOnDisk } from '../site-bytes.ts';
import { COMPRESSED_BYTES_MIN } from '../site-file.ts';
import { OtherBytes } from './checked-content.ts';
import { compressFile, copyChecked } from './compress-file.ts';
import { mostLinked } from './most-linked.ts';
import { decodesTo } from './sibling.ts';
import { soundVariant } from './sound-variant.ts';
import { areMade, EXTENSION, madeFile, VARIANTS, VARIANTS_FORMAT, variantName } from './variant-file.ts';

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
      await setImmediate();
      for (const coding of CODINGS) soundVariant(this.#order.releaseDir, entry.sha256, coding);
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
      await setImmediate();
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
    if (soundVariant(releaseDir, sha256, coding) !== null || this.#link(sha256, coding)) return true;
    const { bavail, bsize } = statfsSync(releaseDir);
    if (bavail * bsize < this.#order.reserveBytes + size) return false;
    this.#onFile(sha256);
    if (sibling !== undefined && sibling.size < size && (await decodesTo(entry, this.#siteFile(sibling), coding))) {
      await this.#publish(entry, (to) => copyChecked(this.#siteFile(sibling), to), coding);
    } else if (isMade) await this.#publish(entry, (to) => compressFile(this.#siteFile(entry), to, coding), coding);
    return true;
  }

  #link(sha256: string, coding: Coding): boolean {
    for (const former of this.#order.formerDirs) {
      const found = soundVariant(former, sha256, coding);
      if (found === null) continue;
      const target = join(this.#folder, variantName(sha256, coding));
      rmSync(target, { force: true });
      try {
        linkSync(found, target);
        this.#linked += 1;
        return true;
      } catch {
        // Some file systems have few links for a file, or none.
        return false;
      }
    }
    return false;
  }

  /** @param write bytes of the form, with its header, to a file that is not there yet; gives how many, null for none */
  async #publish(
    { size, sha256 }: FileEntry,
    write: (temporary: string) => Promise<number | null>,
    coding: Coding,
  ): Promise<void> {
    const temporary = temporaryIn(this.#folder);
    try {
      const bytes = await write(temporary);
      if (bytes === null || bytes >= size) return;
      try {
        renameSync(temporary, join(this.#folder, variantName(sha256, coding)));
      } catch (error) {
        this.hasLost = true;
        throw error;
      }
      this.#made += 1;
      this.#bytes += bytes;
    } catch (error) {
      if (!(error instanceof OtherBytes)) throw error;
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  #siteFile(entry: FileEntry): FileEntry & SiteFileOnDisk {
    return { ...entry, diskPath: join(this.#order.releaseDir, 'site', entry.path) };
  }
}
