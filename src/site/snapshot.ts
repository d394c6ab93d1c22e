import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { DocshelfError } from '../domain/errors.ts';
import { type FileEntry, isPage, type KeptRelease, type ReleaseView, type TrailingSlash } from '../domain/release.ts';
import { NO_ADDITIONS, type PageAdditions } from '../web/additions/page-additions.ts';
import { ImmutableNames } from '../web/immutable-names.ts';
import { isAssetPath, isPagePart } from '../web/media-type.ts';
import { type Mount, rebase } from '../web/mount/base-path.ts';
import { isInternalPath, isWithheld, resolvePath } from '../web/resolve.ts';
import {
  isAt,
  NO_RULES,
  RULE_FILE_BYTES_MAX,
  RULE_FILES,
  readSiteRules,
  type SiteRules,
  Work,
} from '../web/rules/index.ts';
import { type ExtraHeaders, type HeaderForm, HeaderPolicy, RECOMMENDED } from './answer-headers.ts';
import { prefersMarkdown } from './encoding.ts';
import { SiteLanguages } from './first-pages.ts';
import { type Found, NOTHING_ELSE, PreparedTargets, type SiteRequestFacts } from './found.ts';
import { MarkdownPages } from './markdown-pages/markdown-pages.ts';
import type { SearchForm } from './notice.ts';
import { PagePaths } from './page-paths.ts';
import { readSiteFile } from './site-bytes.ts';
import { SiteFile, saysImmutable } from './site-file.ts';
import {
  type Added,
  isTransformed,
  LazyTransform,
  NOTHING_ADDED,
  type SnapshotFile,
  transformFile,
} from './transform/make-file.ts';
import { OverlongFiles } from './transform/making-limits.ts';

export interface SnapshotOptions {
  /** Key of the site in the scheduler, which limits the load of each key. Default: the digest of the release. */
  readonly site?: string;
  readonly trailingSlash: 'auto' | TrailingSlash;
  readonly title?: string | null;
  /** Base path of the site, which ends with a slash. Default: `/`. docshelf rewrites files that were built for another base path. */
  readonly basePath?: string;
  readonly headers?: HeaderForm;
  readonly spaFallback?: boolean;
  readonly markdown?: boolean;
  readonly additions?: PageAdditions;
  readonly search?: SearchForm | null;
}

export interface SnapshotSettings extends SnapshotOptions {
  /** Returns additional markup for the page `path`. Must return equal markup for equal paths: docshelf may transform a page twice. */
  readonly additionsOf?: ((path: string) => Promise<PageAdditions>) | null;
}

/** Reads the rule files of a release. @throws DocshelfError `cannot_read`, `release_damaged` */
export async function loadSiteRules({ files, siteDir }: Pick<ReleaseView, 'files' | 'siteDir'>): Promise<SiteRules> {
  const entries = RULE_FILES.map((name) => files.get(name)).filter((entry) => entry !== undefined);
  if (entries.length === 0) return NO_RULES;
  const read = entries.map(async ({ path, size }) => {
    const isTooLarge = size > RULE_FILE_BYTES_MAX;
    return [path, isTooLarge ? null : await readSiteFile({ diskPath: join(siteDir, path), size })] as const;
  });
  return readSiteRules(new Map(await Promise.all(read)));
}

const START_PAGE = 'index.html';

/** Maximum cached files, about 1 KiB each. Passed as `maxSize`, because `max` reserves 178 KiB per site (lru-cache 11.5). */
const FILES_MAX = 8192;

/** Serves a release, and assets of former releases, which open tabs still request. */
export class SiteSnapshot {
  readonly version: string;
  readonly digest: string;
  readonly languages: SiteLanguages;
  /** Search form of the 404 response. Null omits the form. */
  readonly search: SearchForm | null;
  readonly prepared = new PreparedTargets();
  readonly pages: PagePaths;
  readonly release: ReleaseView;
  readonly #headers: HeaderPolicy;
  readonly #older: readonly KeptRelease[];
  readonly #trailingSlash: TrailingSlash;
  readonly #mount: Mount;
  readonly #spaFallback: boolean;
  readonly #added: Added;
  readonly #markdownPages: MarkdownPages;
  readonly #answersMarkdown: boolean;
  readonly #site: string;
  readonly #overlong = new OverlongFiles();
  readonly #immutable: ImmutableNames;
  readonly #files = new LRUCache<string, SnapshotFile>({ maxSize: FILES_MAX, sizeCalculation: () => 1 });

  constructor(active: ReleaseView, older: readonly KeptRelease[], form: SnapshotSettings, rules: SiteRules = NO_RULES) {
    const { trailingSlash, basePath = '/', headers = RECOMMENDED, spaFallback = false, markdown = false } = form;
    const { site = active.digest } = form;
    this.version = active.version;
    this.digest = active.digest;
    this.languages = new SiteLanguages(active);
    this.search = form.search ?? null;
    this.release = active;
    this.#immutable = new ImmutableNames(active.files);
    this.#older = older;
    this.#mount = { from: active.builtFor, to: basePath };
    const isMoved = active.builtFor !== basePath;
    const ownHeaders = isMoved ? rules.headers.mounted(this.#mount) : rules.headers;
    this.#headers = new HeaderPolicy(headers, ownHeaders, markdown);
    this.#trailingSlash = trailingSlash === 'auto' ? active.trailingSlash : trailingSlash;
    this.pages = new PagePaths(active.files, rules.redirects, this.#mount, this.#trailingSlash);
    this.#spaFallback = spaFallback;
    this.#added = { toAll: form.additions ?? NO_ADDITIONS, toPage: form.additionsOf ?? null };
    this.#markdownPages = new MarkdownPages(active, {
      mount: this.#mount,
      title: form.title ?? null,
      site,
      trailingSlash: this.#trailingSlash,
      headers: this.#headers,
      kept: this.#files,
      fileAt: (path, built) => this.#pageAt(path, built),
      pages: this.pages,
    });
    this.#answersMarkdown = markdown;
    this.#site = site;
  }

  /**
   * Finds the file, redirect or 404 for a path. A promise if it reads an older release. @param path decoded path without first slash;
   * null for other targets
   */
  find(path: string | null, asked = NOTHING_ELSE): Found | Promise<Found> {
    const found = this.#findAny(path, asked);
    if (!this.#answersMarkdown || !prefersMarkdown(asked.accept)) return found;
    return found instanceof Promise
      ? found.then(this.#markdownPages.preferMarkdown)
      : this.#markdownPages.preferMarkdown(found);
  }

  get contentPolicy(): string {
    const { headers } = this.#headers.headersFor(this.#mount.from, 'text/html');
    return Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-security-policy')?.[1] ?? '';
  }

  get notices(): readonly string[] {
    const rewritten = this.#overlong.notice(this.version, 'are served without changes');
    const markdown = this.#markdownPages.overlong.notice(this.version, 'have no Markdown');
    return [rewritten, markdown].filter((notice) => notice !== null);
  }

  get basePath(): string {
    return this.#mount.to;
  }

  markdownOf(page: string): SnapshotFile | null {
    return this.#markdownPages.markdownOf(page);
  }

  #findAny(path: string | null, asked: SiteRequestFacts): Found | Promise<Found> {
    // Do not apply rules of the site to docshelf's own paths or to paths with `.` or `..` segments.
    const built = path === null || isInternalPath(path) || DOTS.test(`/${path}/`) ? null : this.#mount.from + path;
    const work = new Work();
    const forced = this.#byRule('forced', built, asked, work);
    if (forced.found !== null) return forced.found;
    const found = this.#findFile(path, built, asked, work);
    if (!forced.isByHost) return found;
    return found instanceof Promise ? found.then(passing) : passing(found);
  }

  #findFile(path: string | null, built: string | null, asked: SiteRequestFacts, work: Work): Found | Promise<Found> {
    // If the target is no path, look up `.`, which is never served. docshelf then responds with the 404 page of the root folder.
    const resolution = resolvePath(this.release.files, path ?? '.', this.#trailingSlash);
    if (resolution.kind === 'redirect') {
      return { kind: 'redirect', status: 308, location: resolution.location + asked.query };
    }
    if (resolution.kind === 'file') return this.#find(resolution.path, built);
    const missing = (): Found | Promise<Found> => {
      const ruled = this.#byRule('others', built, asked, work).found;
      if (ruled !== null) return ruled;
      const markdown =
        this.#answersMarkdown && path !== null && !isWithheld(path) ? this.#markdownPages.at(path, built) : null;
      if (markdown !== null) return { kind: 'file', file: markdown };
      if (this.#spaFallback && path !== null && isPageLike(path) && this.release.files.has(START_PAGE)) {
        return this.#find(START_PAGE, built);
      }
      const isAsset = path !== null && isAssetPath(path);
      return { kind: 'missing', page: this.#pageAt(resolution.notFoundPage, built), isAsset };
    };
    const mayBeOlder = this.#older.length > 0 && asked.isWorker !== true;
    if (path === null || !mayBeOlder || isWithheld(path) || !isPagePart(path)) return missing();
    return this.#findOlder(path, built).then((file) =>
      file === null ? missing() : { kind: 'file', file, isPassing: true },
    );
  }

  /** Applies rules of the site. `isByHost` is true if a rule was ignored because it redirects to the requested address itself. */
  #byRule(kind: 'forced' | 'others', built: string | null, { query, host }: SiteRequestFacts, work: Work) {
    let isByHost = false;
    const answer = (found: Found | Promise<Found> | null) => ({ found, isByHost });
    if (built === null) return answer(null);
    for (const { target, status, captures, path, file } of this.pages.applying(kind, built, work)) {
      if (file !== null && status === 200) return answer(this.#find(file, built));
      if (file !== null)
        return answer({ kind: 'missing', page: this.#pageAt(file, built), isAsset: isAssetPath(built) });
      if (path === null || (target.origin === null && path === built)) continue;
      const location = target.location(captures, query, (each) => rebase(each, this.#mount) ?? each);
      if (location === null) continue;
      const asked = host?.toLowerCase() ?? null;
      const isHere = target.origin === null || target.host === asked;
      if (isHere && target.origin !== null && isAt(location, host, rebase(built, this.#mount) ?? built)) {
        isByHost = true;
        continue;
      }
      if (isHere && !this.pages.redirectsEnd(target, path, work, asked)) continue;
      return answer({ kind: 'redirect', status, location });
    }
    return answer(null);
  }

  #find(path: string, built: string | null): Found | Promise<Found> {
    const entry = this.#entryOf(path);
    const sent = this.#sent(built, entry);
    const known = this.#files.get(keyOf(path, sent));
    if (known !== undefined) return { kind: 'file', file: known };
    const found = (isImmutable: boolean): Found => ({
      kind: 'file',
      file: this.#file(entry, this.release, sent, isImmutable),
    });
    const isImmutable = this.#isImmutable(path, sent);
    if (!isImmutable || this.#older.length === 0) return found(isImmutable);
    return this.#hasOneContent(entry).then(found);
  }

  #isImmutable(path: string, sent: ExtraHeaders): boolean {
    return this.#immutable.has(path) || (saysImmutable(sent.cacheControl) && !isPage(path));
  }

  async #findOlder(path: string, built: string | null): Promise<SnapshotFile | null> {
    for (const release of this.#older) {
      if (release.servedAt === null) continue;
      const entry = await release.find(path).catch(nullIfDamaged);
      if (entry === null) continue;
      const sent = this.#sent(built, entry);
      const known = this.#files.get(keyOf(path, sent, release));
      const isImmutable = async () => this.#isImmutable(path, sent) && (await this.#hasOneContent(entry));
      return known ?? this.#file(entry, release, sent, await isImmutable());
    }
    return null;
  }

  async #hasOneContent({ path, sha256 }: FileEntry): Promise<boolean> {
    const others = await Promise.allSettled(this.#older.map((release) => release.find(path)));
    return others.every((other) => other.status === 'fulfilled' && (other.value?.sha256 ?? sha256) === sha256);
  }

  #pageAt(path: string | null, built: string | null): SnapshotFile | null {
    if (path === null) return null;
    const entry = this.#entryOf(path);
    return this.#file(entry, this.release, this.#sent(built, entry), false);
  }

  #sent(built: string | null, { type }: FileEntry): ExtraHeaders {
    return this.#headers.headersFor(built ?? '/', type);
  }

  #entryOf(path: string): FileEntry {
    const entry = this.release.files.get(path);
    if (entry === undefined) throw new Error(`no file "${path}" in this snapshot`);
    return entry;
  }

  #file(entry: FileEntry, release: ReleaseView | KeptRelease, sent: ExtraHeaders, isImmutable: boolean): SnapshotFile {
    const key = keyOf(entry.path, sent, release === this.release ? null : release);
    const known = this.#files.get(key);
    if (known !== undefined) return known;
    const files = release === this.release ? this.release.files : null;
    const plain = new SiteFile(entry, release, sent, isImmutable, null, files);
    const making = {
      release,
      basePath: this.#mount.to,
      // Serve no pages of older releases, only their assets.
      added: release === this.release ? this.#added : NOTHING_ADDED,
      site: this.#site,
      overlong: this.#overlong,
    };
    const file = !isTransformed(entry, making)
      ? plain
      : new LazyTransform(entry.path, sent, async (signal) => {
          const made = await transformFile(plain, entry, making, signal);
          this.#files.set(key, made.file);
          return made;
        });
    this.#files.set(key, file);
    return file;
  }
}

const DOTS = /\/\.{1,2}\//;

function isPageLike(path: string): boolean {
  return !path.slice(path.lastIndexOf('/') + 1).includes('.') && !isWithheld(path);
}

function passing(found: Found): Found {
  return found.kind === 'file' ? { ...found, isPassing: true } : found;
}

function keyOf(path: string, { id }: ExtraHeaders, release: Pick<KeptRelease, 'digest'> | null = null): string {
  // Separate the members of a cache key with line feeds, because paths contain no control characters.
  return id === '' && release === null ? path : `${release?.digest ?? ''}\n${id}\n${path}`;
}

function nullIfDamaged(error: unknown): null {
  if (error instanceof DocshelfError && error.code === 'release_damaged') return null;
  throw error;
}
