import { createHash } from 'node:crypto';
import type { FileEntry, ReleaseView } from '../domain/release.ts';
import { Slots } from '../files/lanes.ts';
import type { MountedSite } from '../web/mount/index.ts';
import { SiteFile } from './site-file.ts';

const DIGEST = /^(sha256|sha384|sha512)-/;

/** Rewritings at a time: each holds a file several times over. */
const REWRITES_MAX = 2;
const rewrites = new Slots(REWRITES_MAX);

export interface MadeFile {
  readonly file: SiteFile;
  /** Null where they are those on disk. */
  readonly bytes: Buffer<ArrayBuffer> | null;
}

/** A release at another base path than it was built for. The rewriter is loaded with the first file: it brings parsers. */
export class MountedRelease {
  readonly #release: ReleaseView;
  readonly #basePath: string;

  constructor(release: ReleaseView, basePath: string) {
    this.#release = release;
    this.#basePath = basePath;
  }

  /**
   * The file with the bytes that are sent: the same one where nothing in it changes. Rewritten files are not immutable: with
   * another base path or another docshelf they are others.
   *
   * @throws DocshelfError `cannot_read`, `release_damaged`
   */
  async mount(plain: SiteFile, entry: FileEntry): Promise<MadeFile> {
    const { isMountable } = await import('../web/mount/index.ts');
    if (!isMountable(entry.path, entry.type, entry.size)) return { file: plain, bytes: null };
    const bytes = await rewrites.run(() => this.#rewrite(plain));
    if (bytes === null) return { file: plain, bytes: null };
    const made = { ...entry, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
    const make = async (): Promise<Buffer<ArrayBuffer>> =>
      (await rewrites.run(() => this.#rewrite(plain))) ?? plain.read();
    return { file: new SiteFile(made, this.#release, false, make), bytes };
  }

  /** Null where nothing changes. */
  async #rewrite(plain: SiteFile): Promise<Buffer<ArrayBuffer> | null> {
    const { integrityTargets, mountFile } = await import('../web/mount/index.ts');
    const site = await this.#site();
    const bytes = await plain.read();
    const file = { path: plain.path, type: plain.type, bytes };
    const digests = new Map<string, string>();
    for (const { url, digest } of integrityTargets(file)) {
      const made = await this.#integrityOf(url, digest, plain.path);
      if (made !== null) digests.set(url, made);
    }
    const mounted = mountFile(file, site, (url) => digests.get(url) ?? null);
    return mounted === bytes ? null : Buffer.from(mounted.buffer as ArrayBuffer, mounted.byteOffset, mounted.length);
  }

  /** The `integrity` of a file that is rewritten, by the algorithm of the one that the page has; null where it holds. */
  async #integrityOf(url: string, former: string, pagePath: string): Promise<string | null> {
    const entry = this.#entryAt(url, pagePath);
    if (entry === null) return null;
    const { isMountable, mountFile } = await import('../web/mount/index.ts');
    if (!isMountable(entry.path, entry.type, entry.size)) return null;
    const bytes = await new SiteFile(entry, this.#release, false).read();
    const mounted = mountFile({ path: entry.path, type: entry.type, bytes }, await this.#site());
    const algorithm = DIGEST.exec(former.trim())?.[1] ?? 'sha384';
    return mounted === bytes ? null : `${algorithm}-${createHash(algorithm).update(mounted).digest('base64')}`;
  }

  #entryAt(url: string, pagePath: string): FileEntry | null {
    const { builtFor, files } = this.#release;
    const target = URL.parse(url, `http://site.invalid${builtFor}${encodeURI(pagePath)}`);
    if (target?.host !== 'site.invalid' || !target.pathname.startsWith(builtFor)) return null;
    try {
      return files.get(decodeURIComponent(target.pathname.slice(builtFor.length))) ?? null;
    } catch {
      return null;
    }
  }

  async #site(): Promise<MountedSite> {
    const { answers } = await import('../web/mount/index.ts');
    const { builtFor, files } = this.#release;
    return { from: builtFor, to: this.#basePath, has: (path) => answers(files, path) };
  }
}
