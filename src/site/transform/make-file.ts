import { createHash } from 'node:crypto';
import type { FileEntry, KeptRelease, ReleaseView } from '../../domain/release.ts';
import { type ThreadCall, threadEntry } from '../../threads/index.ts';
import { Scheduler } from '../../threads/scheduler.ts';
import {
  acceptsAdditions,
  isEmptyAdditions,
  joinAdditions,
  NO_ADDITIONS,
  type PageAdditions,
} from '../../web/additions/page-additions.ts';
import { linkedPath, ownUrl } from '../../web/escape.ts';
import { rewrittenType } from '../../web/media-type.ts';
import { isMountable, isServedPath, type MountableFile } from '../../web/mount/base-path.ts';
import type { ExtraHeaders } from '../answer-headers.ts';
import type { BodyCache } from '../body-cache.ts';
import { FORMS } from '../encoding.ts';
import { SiteFile } from '../site-file.ts';
import { type OverlongFiles, TransformThreads } from './making-limits.ts';
import type { MountAnswer, MountCalls } from './worker.ts';

type RewriteCall = ThreadCall<MountCalls>;

export type SnapshotFile = SiteFile | LazyTransform;

/** Shares one transformation of a file among concurrent requests. Has no limit, because `TransformThreads` limits the load. */
const sharing = new Scheduler(Number.POSITIVE_INFINITY);

export class LazyTransform {
  readonly path: string;
  readonly sent: ExtraHeaders;
  readonly #make: (signal: AbortSignal) => Promise<TransformedFile>;

  /** @param make function that transforms the file. Its signal aborts when no request waits for the file any more */
  constructor(path: string, sent: ExtraHeaders, make: (signal: AbortSignal) => Promise<TransformedFile>) {
    this.path = path;
    this.sent = sent;
    this.#make = make;
  }

  /**
   * Transforms the file. The next call after an error tries again. @throws DocshelfError `cannot_read`, `release_damaged`;
   * `signal.reason`
   */
  make(bodies: BodyCache, signal?: AbortSignal): Promise<SiteFile> {
    const make = async (wanted: AbortSignal): Promise<SiteFile> => {
      const { file, bytes } = await this.#make(wanted);
      if (bytes !== null) bodies.keep(file, { ...FORMS.identity, bytes });
      return file;
    };
    return sharing.run(make, { share: this, signal });
  }
}

export interface TransformedFile {
  readonly file: SiteFile;
  readonly bytes: Buffer<ArrayBuffer> | null;
}

export interface Added {
  readonly toAll: PageAdditions;
  readonly toPage: ((path: string) => Promise<PageAdditions>) | null;
}

export const NOTHING_ADDED: Added = { toAll: NO_ADDITIONS, toPage: null };

interface TransformContext {
  readonly release: ReleaseView | KeptRelease;
  readonly basePath: string;
  readonly added: Added;
  readonly site: string;
  readonly overlong: OverlongFiles;
}

/** Threads that rewrite files. They are few, because each keeps several copies of a file. One thread stays free for other sites. */
const transformThreads = new TransformThreads<MountCalls>({
  task: 'rewrite a file',
  entry: threadEntry('./worker', import.meta),
  max: 3,
  siteMax: 2,
});
/** If rewriting a file has terminated this number of threads, docshelf serves the file without changes. */
const THREAD_ENDS_MAX = 2;
/** Maximum bytes of a page to which the main thread adds markup, at 10 ms per MiB. A worker thread handles larger pages. */
const ADDED_HERE_BYTES_MAX = 256 * 1024;

export function isTransformed(entry: FileEntry, { release, basePath, added, overlong }: TransformContext): boolean {
  const { path, type, size } = entry;
  if (!overlong.allows(entry)) return false;
  const isMounted = release.builtFor !== basePath && isMountable(path, type, size);
  return isMounted || ((added.toPage !== null || !isEmptyAdditions(added.toAll)) && acceptsAdditions(type, size));
}

/** Adds markup and the base path, or returns `plain` if it cannot. @throws DocshelfError `cannot_read`, `release_damaged`, `internal` */
export async function transformFile(
  plain: SiteFile,
  entry: FileEntry,
  making: TransformContext,
  signal?: AbortSignal,
): Promise<TransformedFile> {
  const { site, overlong } = making;
  const make = async (wanted?: AbortSignal): Promise<Buffer<ArrayBuffer> | null> => {
    if (!overlong.allows(entry)) return null;
    try {
      return await transformThreads.run(entry, { key: site, signal: wanted }, (call) =>
        bytesOf(plain, entry, making, call),
      );
    } catch (error) {
      if (wanted?.aborted || !overlong.note(entry.path, error, THREAD_ENDS_MAX)) throw error;
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

async function bytesOf(
  plain: SiteFile,
  entry: FileEntry,
  { release, basePath, added }: TransformContext,
  rewrite: RewriteCall,
): Promise<Buffer<ArrayBuffer> | null> {
  const isMounted = release.builtFor !== basePath && isMountable(entry.path, entry.type, entry.size);
  const mounted = isMounted ? await mountedBytes(plain, release, basePath, rewrite) : null;
  if (!acceptsAdditions(entry.type, entry.size)) return mounted;
  const additions = joinAdditions([added.toAll, await added.toPage?.(entry.path)]);
  if (isEmptyAdditions(additions)) return mounted;
  return (await withAdditions(mounted ?? (await plain.read()), entry.type, additions, rewrite)) ?? mounted;
}

const DIGEST = /^(sha256|sha384|sha512)-/;

async function mountedBytes(
  plain: SiteFile,
  release: TransformContext['release'],
  basePath: string,
  rewrite: RewriteCall,
): Promise<Buffer<ArrayBuffer> | null> {
  // The file table of an older release is read each time, so that it does not stay in memory.
  const files = 'files' in release ? release.files : await release.readTable();
  const mount = { from: release.builtFor, to: basePath };
  const mounted = async (file: MountableFile, digests = new Map<string, string>()): Promise<MountAnswer> => {
    const answer = await rewrite('mount', { file, mount, absent: new Set(), digests });
    // The thread has no file table, so it assumes that all paths exist. If some are missing, call it again with a list of them.
    const absent = new Set([...answer.presumed].filter((path) => !isServedPath(files, path)));
    return absent.size === 0 ? answer : rewrite('mount', { file, mount, absent, digests });
  };
  /** Returns the new `integrity` of the file at `url`, with the algorithm of `former`. Null if docshelf does not change the file. */
  const integrityOf = async (url: string, former: string): Promise<string | null> => {
    const path = linkedPath(url, ownUrl(plain.path, release.builtFor), release.builtFor);
    const entry = path === null ? undefined : files.get(path);
    if (entry === undefined || !isMountable(entry.path, entry.type, entry.size)) return null;
    const { bytes } = await mounted(await readMountable(new SiteFile(entry, release, plain.sent, false)));
    const algorithm = DIGEST.exec(former.trim())?.[1] ?? 'sha384';
    return bytes === null ? null : `${algorithm}-${createHash(algorithm).update(bytes).digest('base64')}`;
  };
  const page = await readMountable(plain);
  let answer = await mounted(page);
  const digests = new Map<string, string>();
  for (const { url, digest } of answer.integrity) {
    const integrity = await integrityOf(url, digest);
    if (integrity !== null) digests.set(url, integrity);
  }
  if (digests.size > 0) answer = await mounted(page, digests);
  return answer.bytes === null ? null : Buffer.from(answer.bytes.buffer as ArrayBuffer);
}

async function readMountable(file: SiteFile): Promise<MountableFile> {
  return { path: file.path, type: file.type, bytes: await file.read() };
}

async function withAdditions(page: Buffer<ArrayBuffer>, type: string, additions: PageAdditions, rewrite: RewriteCall) {
  if (page.length > ADDED_HERE_BYTES_MAX) {
    const bytes = await rewrite('add', { page, type, additions });
    return bytes === null ? null : Buffer.from(bytes.buffer as ArrayBuffer);
  }
  const { addToPage } = await import('../../web/additions/add-to-page.ts');
  const added = addToPage(page, type, additions);
  return added === page ? null : Buffer.from(added.buffer as ArrayBuffer, added.byteOffset, added.byteLength);
}
