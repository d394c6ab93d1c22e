import { createHash } from 'node:crypto';
import type { FileEntry, KeptRelease, ReleaseView } from '../../domain/release.ts';
import { threadEntry } from '../../threads/index.ts';
import {
  areNone,
  joinAdditions,
  NO_ADDITIONS,
  type PageAdditions,
  takesAdditions,
} from '../../web/additions/page-additions.ts';
import { rewrittenType } from '../../web/media-type.ts';
import { isMountable } from '../../web/mount/base-path.ts';
import { SiteFile } from '../site-file.ts';
import { Makers, type OverlongFiles } from './making-limits.ts';
import { type MountableRelease, MountedRelease, type RewriteCall } from './mounted-release.ts';
import type { MountCalls } from './worker.ts';

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
  /** Takes turns with other sites. */
  readonly site: string;
  readonly overlong: OverlongFiles;
}

/** Each holds a file several times over. A site leaves a place for the others. */
const makers = new Makers<MountCalls>({
  task: 'rewrite a file',
  entry: threadEntry('./worker', import.meta),
  max: 3,
  siteMax: 2,
});
/** Of the thread, in the same file: the first may have come from outside. */
const ENDS_MAX = 2;
/** A larger page is read in the thread: 10 ms a MiB. */
const ADDED_HERE_BYTES_MAX = 256 * 1024;

export function isMade(entry: FileEntry, { release, basePath, added, overlong }: Making): boolean {
  const { path, type, size } = entry;
  if (!overlong.allows(entry)) return false;
  const isMounted = release.builtFor !== basePath && isMountable(path, type, size);
  return isMounted || ((added.toPage !== null || !areNone(added.toAll)) && takesAdditions(type, size));
}

/**
 * The file with the bytes that are sent: rewritten for its base path, then with what is added to pages; the same one where that
 * changes nothing, or takes too long. Made files are not immutable: with other settings or another docshelf they are others.
 *
 * @param signal of the readers who want it
 * @throws DocshelfError `cannot_read`, `release_damaged`, `internal`; the signal's reason
 */
export async function makeFile(
  plain: SiteFile,
  entry: FileEntry,
  making: Making,
  signal?: AbortSignal,
): Promise<MadeFile> {
  const { site, overlong } = making;
  const make = async (wanted?: AbortSignal): Promise<Buffer<ArrayBuffer> | null> => {
    if (!overlong.allows(entry)) return null;
    try {
      return await makers.run(entry, { key: site, signal: wanted }, (call) => bytesOf(plain, entry, making, call));
    } catch (error) {
      if (wanted?.aborted || !overlong.note(entry.path, error, ENDS_MAX)) throw error;
      return null;
    }
  };
  const bytes = await make(signal);
  if (bytes === null) return { file: plain, bytes: null };
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const made = { ...entry, type: rewrittenType(entry.type, bytes), size: bytes.length, sha256 };
  const again = async (): Promise<Buffer<ArrayBuffer>> => (await make()) ?? plain.read();
  return { file: new SiteFile(made, making.release, plain.sent, false, again), bytes };
}

/** Null where nothing changes. */
async function bytesOf(
  plain: SiteFile,
  entry: FileEntry,
  { release, basePath, added }: Making,
  rewrite: RewriteCall,
): Promise<Buffer<ArrayBuffer> | null> {
  const isMounted = release.builtFor !== basePath && isMountable(entry.path, entry.type, entry.size);
  const mounted = isMounted ? await new MountedRelease(mountable(release), basePath, rewrite).rewrite(plain) : null;
  if (!takesAdditions(entry.type, entry.size)) return mounted;
  const additions = joinAdditions([added.toAll, (await added.toPage?.(entry.path)) ?? NO_ADDITIONS]);
  if (areNone(additions)) return mounted;
  return (await withAdditions(mounted ?? (await plain.read()), entry.type, additions, rewrite)) ?? mounted;
}

function mountable(release: ReleaseView | KeptRelease): MountableRelease {
  return 'files' in release ? { ...release, readTable: async () => release.files } : release;
}

/** Null where nothing is added. */
async function withAdditions(
  page: Buffer<ArrayBuffer>,
  type: string,
  additions: PageAdditions,
  rewrite: RewriteCall,
): Promise<Buffer<ArrayBuffer> | null> {
  if (page.length > ADDED_HERE_BYTES_MAX) {
    const bytes = await rewrite('add', { page, type, additions });
    return bytes === null ? null : Buffer.from(bytes.buffer as ArrayBuffer);
  }
  // It brings a parser, which most sites never need.
  const { addToPage } = await import('../../web/additions/add-to-page.ts');
  const added = addToPage(page, type, additions);
  return added === page ? null : Buffer.from(added.buffer as ArrayBuffer, added.byteOffset, added.byteLength);
}
