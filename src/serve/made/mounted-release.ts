import { createHash } from 'node:crypto';
import type { FileEntry, FileTable, KeptRelease } from '../../domain/release.ts';
import type { ThreadCall } from '../../threads/index.ts';
import { answers, isMountable, type MountableFile } from '../../web/mount/base-path.ts';
import { SiteFile } from '../site-file.ts';
import type { MountAnswer, MountCalls } from './worker.ts';

const DIGEST = /^(sha256|sha384|sha512)-/;

/** Its table is read when it is needed: of an older release none is kept. */
export type MountableRelease = Pick<KeptRelease, 'siteDir' | 'createdAt' | 'builtFor' | 'readTable'>;

export type RewriteCall = ThreadCall<MountCalls>;

/** A release at another base path than it was built for. */
export class MountedRelease {
  readonly #release: MountableRelease;
  readonly #basePath: string;
  readonly #rewrite: RewriteCall;

  constructor(release: MountableRelease, basePath: string, rewrite: RewriteCall) {
    this.#rewrite = rewrite;
    this.#release = release;
    this.#basePath = basePath;
  }

  /** Null where nothing changes. @throws DocshelfError `cannot_read`, `release_damaged`, `internal` */
  async rewrite(plain: SiteFile): Promise<Buffer<ArrayBuffer> | null> {
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
    const answer = await this.#rewrite('mount', order);
    const absent = new Set([...answer.presumed].filter((path) => !answers(files, path)));
    return absent.size === 0 ? answer : this.#rewrite('mount', { ...order, absent });
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
