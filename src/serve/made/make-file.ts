import { createHash } from 'node:crypto';
import type { FileEntry, KeptRelease, ReleaseView } from '../../domain/release.ts';
import { Slots } from '../../files/lanes.ts';
import { areNone, joinAdditions, NO_ADDITIONS, type PageAdditions } from '../../web/additions/page-additions.ts';
import { takesAdditions } from '../../web/additions/takes-additions.ts';
import { isMountable } from '../../web/mount/mountable.ts';
import { SiteFile } from '../site-file.ts';
import { addInThread, type MountableRelease, MountedRelease } from './mounted-release.ts';

export interface MadeFile {
  readonly file: SiteFile;
  /** Null where they are those on disk. */
  readonly bytes: Buffer<ArrayBuffer> | null;
}

/** What pages are sent with. */
export interface Added {
  readonly toAll: PageAdditions;
  /** After that, by the page's path. */
  readonly toPage: ((path: string) => Promise<PageAdditions>) | null;
}

export const NOTHING_ADDED: Added = { toAll: NO_ADDITIONS, toPage: null };

/** What makes other bytes of a release's files. */
export interface Making {
  readonly release: ReleaseView | KeptRelease;
  /** Where it is read. */
  readonly basePath: string;
  readonly added: Added;
}

/** At a time: each holds a file several times over. */
const MAKINGS_MAX = 2;
const makings = new Slots(MAKINGS_MAX);
/** A larger page is read in the thread: 10 ms a MiB. */
const ADDED_HERE_BYTES_MAX = 256 * 1024;

export function isMade({ path, type, size }: FileEntry, { release, basePath, added }: Making): boolean {
  const isMounted = release.builtFor !== basePath && isMountable(path, type, size);
  return isMounted || ((added.toPage !== null || !areNone(added.toAll)) && takesAdditions(type, size));
}

/**
 * The file with the bytes that are sent: rewritten for its base path, then with what is added to pages; the same one where that
 * changes nothing. Made files are not immutable: with other settings or another docshelf they are others.
 *
 * @throws DocshelfError `cannot_read`, `release_damaged`, `internal`
 */
export async function makeFile(plain: SiteFile, entry: FileEntry, making: Making): Promise<MadeFile> {
  const make = () => makings.run(() => bytesOf(plain, entry, making));
  const bytes = await make();
  if (bytes === null) return { file: plain, bytes: null };
  const made = { ...entry, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
  const again = async (): Promise<Buffer<ArrayBuffer>> => (await make()) ?? plain.read();
  return { file: new SiteFile(made, making.release, plain.sent, false, again), bytes };
}

/** Null where nothing changes. */
async function bytesOf(plain: SiteFile, entry: FileEntry, making: Making): Promise<Buffer<ArrayBuffer> | null> {
  const { release, basePath, added } = making;
  const isMounted = release.builtFor !== basePath && isMountable(entry.path, entry.type, entry.size);
  const mounted = isMounted ? await new MountedRelease(mountable(release), basePath).rewrite(plain) : null;
  if (!takesAdditions(entry.type, entry.size)) return mounted;
  const additions = joinAdditions([added.toAll, (await added.toPage?.(entry.path)) ?? NO_ADDITIONS]);
  if (areNone(additions)) return mounted;
  return (await withAdditions(mounted ?? (await plain.read()), entry.type, additions)) ?? mounted;
}

function mountable(release: ReleaseView | KeptRelease): MountableRelease {
  return 'files' in release ? { ...release, readTable: async () => release.files } : release;
}

/** Null where nothing is added. */
async function withAdditions(
  page: Buffer<ArrayBuffer>,
  type: string,
  additions: PageAdditions,
): Promise<Buffer<ArrayBuffer> | null> {
  if (page.length > ADDED_HERE_BYTES_MAX) return addInThread({ page, type, additions });
  // It brings a parser, which most sites never need.
  const { addToPage } = await import('../../web/additions/add-to-page.ts');
  const added = addToPage(page, type, additions);
  return added === page ? null : Buffer.from(added.buffer as ArrayBuffer, added.byteOffset, added.byteLength);
}
