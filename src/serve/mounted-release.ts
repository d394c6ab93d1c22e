import { createHash } from 'node:crypto';
import type { FileEntry, FileTable, KeptRelease } from '../domain/release.ts';
import { Slots } from '../files/lanes.ts';
import { HEAPS, Thread, threadEntry } from '../threads/index.ts';
import { answers } from '../web/mount/base-path-votes.ts';
import { isMountable, type MountableFile } from '../web/mount/mountable.ts';
import { SiteFile } from './site-file.ts';
import type { MountAnswer, MountCalls } from './worker.ts';

const DIGEST = /^(sha256|sha384|sha512)-/;

/** Rewritings at a time: each holds a file several times over. */
const REWRITES_MAX = 2;
const rewrites = new Slots(REWRITES_MAX);

export interface MadeFile {
  readonly file: SiteFile;
  /** Null where they are those on disk. */
  readonly bytes: Buffer<ArrayBuffer> | null;
}

/** Its table is read when it is needed: of an older release none is kept. */
export type MountableRelease = Pick<KeptRelease, 'siteDir' | 'createdAt' | 'builtFor' | 'readTable'>;

/** One for all releases, started by the first file: it brings parsers. */
const rewriter = new Thread<MountCalls>({
  task: 'rewrite a file for its base path',
  heap: HEAPS.mount,
  entry: threadEntry('./worker', import.meta),
});

/** A release at another base path than it was built for. */
export class MountedRelease {
  readonly #release: MountableRelease;
  readonly #basePath: string;

  constructor(release: MountableRelease, basePath: string) {
    this.#release = release;
    this.#basePath = basePath;
  }

  /**
   * The file with the bytes that are sent: the same one where nothing in it changes. Rewritten files are not immutable: with
   * another base path or another docshelf they are others.
   *
   * @throws DocshelfError `cannot_read`, `release_damaged`, `internal`
   */
  async mount(plain: SiteFile, entry: FileEntry): Promise<MadeFile> {
    if (!isMountable(entry.path, entry.type, entry.size)) return { file: plain, bytes: null };
    const bytes = await rewrites.run(() => this.#rewrite(plain));
    if (bytes === null) return { file: plain, bytes: null };
    const made = { ...entry, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
    const make = async (): Promise<Buffer<ArrayBuffer>> =>
      (await rewrites.run(() => this.#rewrite(plain))) ?? plain.read();
    return { file: new SiteFile(made, this.#release, plain.sent, false, make), bytes };
  }

  /** Null where nothing changes. */
  async #rewrite(plain: SiteFile): Promise<Buffer<ArrayBuffer> | null> {
    const [file, files] = await Promise.all([readMountable(plain), this.#release.readTable()]);
    let mounted = await this.#mounted(file, files, new Map());
    const digests = new Map<string, string>();
    for (const { url, digest } of mounted.integrity) {
      const made = await this.#integrityOf(url, digest, plain, files);
      if (made !== null) digests.set(url, made);
    }
    if (digests.size > 0) mounted = await this.#mounted(file, files, digests);
    return mounted.bytes === null ? null : Buffer.from(mounted.bytes.buffer as ArrayBuffer);
  }

  /** In the thread; once more where that took paths for files that are none. */
  async #mounted(file: MountableFile, files: FileTable, digests: ReadonlyMap<string, string>): Promise<MountAnswer> {
    const order = {
      file,
      mount: { from: this.#release.builtFor, to: this.#basePath },
      absent: new Set<string>(),
      digests,
    };
    const answer = await rewriter.call('mount', order);
    const absent = new Set([...answer.presumed].filter((path) => !answers(files, path)));
    return absent.size === 0 ? answer : rewriter.call('mount', { ...order, absent });
  }

  /** The `integrity` of a file that is rewritten, by the algorithm of the one that the page has; null where it holds. */
  async #integrityOf(url: string, former: string, page: SiteFile, files: FileTable): Promise<string | null> {
    const entry = this.#entryAt(url, page.path, files);
    if (entry === null || !isMountable(entry.path, entry.type, entry.size)) return null;
    const file = await readMountable(new SiteFile(entry, this.#release, page.sent, false));
    const { bytes } = await this.#mounted(file, files, new Map());
    const algorithm = DIGEST.exec(former.trim())?.[1] ?? 'sha384';
    return bytes === null ? null : `${algorithm}-${createHash(algorithm).update(bytes).digest('base64')}`;
  }

  #entryAt(url: string, pagePath: string, files: FileTable): FileEntry | null {
    const { builtFor } = this.#release;
    const target = URL.parse(url, `http://site.invalid${builtFor}${encodeURI(pagePath)}`);
    if (target?.host !== 'site.invalid' || !target.pathname.startsWith(builtFor)) return null;
    try {
      return files.get(decodeURIComponent(target.pathname.slice(builtFor.length))) ?? null;
    } catch {
      return null;
    }
  }
}

async function readMountable(plain: SiteFile): Promise<MountableFile> {
  return { path: plain.path, type: plain.type, bytes: await plain.read() };
}
