import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { toDocshelfError } from '../../domain/errors.ts';
import { type FileEntry, isPage, type ReleaseView, type TrailingSlash } from '../../domain/release.ts';
import { Slots } from '../../files/lanes.ts';
import { HEAPS, Thread, threadEntry } from '../../threads/index.ts';
import type { Mount } from '../../web/mount/base-path.ts';
import { encodeSegments } from '../../web/percent-encode.ts';
import { type HeaderPolicy, type SentHeaders, VARIES } from '../answer-headers.ts';
import type { Found } from '../found.ts';
import { makeFile, NOTHING_ADDED } from '../made/make-file.ts';
import { type SnapshotFile, UnmadeFile } from '../made/unmade-file.ts';
import type { PagePaths } from '../page-paths.ts';
import { readSiteFile } from '../site-bytes.ts';
import { SiteFile } from '../site-file.ts';
import { LIST_TYPE, type ListName, SiteLists } from './site-lists.ts';
import { ownTwin, pageOfTwin, twinOf } from './twin-path.ts';
import type { TwinAnswer, TwinCalls } from './worker.ts';

/** Of a page. Larger ones are data, and have no twin. */
const PAGE_BYTES_MAX = 2 * 1024 ** 2;
/** The slowest real page, of 1.5 MB, takes 1.4 s; 2 MB of hostile markup take 16 s on a busy machine (measured). */
const MAKE_MAX_MS = 30_000;
/** 20,000 pages by their heads, on a busy disk. */
const LIST_MAX_MS = 300_000;
/** One by one: where the thread ends, it is known which page has ended it. */
const making = new Slots(1);

const MARKDOWN_TYPE = 'text/markdown; charset=utf-8';

const threadOf = (task: string) =>
  new Thread<TwinCalls>({ task, heap: HEAPS.mount, entry: threadEntry('./worker', import.meta) });
/** For all releases, started by the first twin: they bring an HTML parser. */
const maker = threadOf('make the Markdown of a page');
const lister = threadOf('list the pages of a site');

interface TwinsForm {
  readonly mount: Mount;
  /** Of the site; null: that of its first page. */
  readonly title: string | null;
  readonly trailingSlash: TrailingSlash;
  readonly headers: HeaderPolicy;
  /** The snapshot's files, by keys of its own: none ends in a line feed. */
  readonly kept: { get(key: string): SnapshotFile | undefined; set(key: string, file: SnapshotFile): unknown };
  readonly fileAt: (path: string, built: string) => SnapshotFile | null;
  /** Pages that an address of their own leads to. */
  readonly pages: PagePaths;
}

/** Pages of the active release as Markdown. */
export class Twins {
  readonly #release: ReleaseView;
  readonly #form: TwinsForm;
  readonly #lists: SiteLists;
  /** Pages that took too long, or the thread along: they have no twin. */
  readonly #unmakeable = new Set<string>();

  constructor(release: ReleaseView, form: TwinsForm) {
    this.#release = release;
    this.#form = form;
    this.#lists = new SiteLists(release, {
      basePath: form.mount.to,
      title: form.title,
      trailingSlash: form.trailingSlash,
      openOf: (pages) => form.pages.openOf(pages),
      markdownOf: (page) => this.#textOf(page),
      list: (order) => lister.call('list', order, { signal: AbortSignal.timeout(LIST_MAX_MS) }),
    });
  }

  /** By a path of its own: `guide/start.md`, `llms.txt`; null where that is no page's. @param built as the site was built */
  at(path: string, built: string | null): SnapshotFile | null {
    if (SiteLists.isList(path)) return this.#list(path, built ?? this.#form.mount.from + path);
    const page = pageOfTwin(this.#release.files, path);
    return page === null || !this.#form.pages.isOpen(page) ? null : this.of(page, built);
  }

  /** Of a page, the bundle's own first; null for what is no page, or too large. */
  of(page: string, built: string | null = null): SnapshotFile | null {
    const { files } = this.#release;
    const { mount, headers, kept, fileAt } = this.#form;
    const entry = isPage(page) ? files.get(page) : undefined;
    if (entry === undefined) return null;
    const own = ownTwin(files, page);
    if (own !== null) return fileAt(own, mount.from + own);
    if (!this.#mayBeMade(entry)) return null;
    const { id, headers: sent, cacheControl } = headers.of(built ?? mount.from + page, MARKDOWN_TYPE);
    const key = `${id}\n${page}\n`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    // A second copy of each page would compete with it in search engines.
    const made = this.#make(
      entry,
      { id, cacheControl, headers: { Vary: VARIES, 'X-Robots-Tag': 'noindex', ...sent } },
      key,
    );
    kept.set(key, made);
    return made;
  }

  /** Of a page its twin, of all else what was found. */
  readonly insteadOf = (found: Found): Found => {
    const twin = found.kind === 'file' ? this.of(found.file.path) : null;
    return twin === null ? found : { kind: 'file', file: twin, isPassing: true };
  };

  #list(name: ListName, built: string): SnapshotFile {
    const { headers, kept } = this.#form;
    const given = headers.of(built, LIST_TYPE);
    const key = `${given.id}\n${name}\n`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const list = this.#lists.at(name, given, (file) => kept.set(key, file));
    kept.set(key, list);
    return list;
  }

  /** Null for one that is left out. */
  async #textOf(page: string): Promise<string | null> {
    const { files, siteDir } = this.#release;
    const entry = files.get(page);
    if (entry === undefined) return null;
    const own = files.get(ownTwin(files, page) ?? '');
    if (own !== undefined && own.size <= PAGE_BYTES_MAX) {
      return (await readSiteFile({ diskPath: join(siteDir, own.path), size: own.size })).toString('utf8');
    }
    if (!this.#mayBeMade(entry)) return null;
    const sent = this.#form.headers.of(this.#form.mount.from + page, MARKDOWN_TYPE);
    const made = await this.#markdown(entry, sent).catch((error: unknown) => {
      if (this.#mayBeMade(entry)) throw error;
      return null;
    });
    return made === null || made.isLeftOut ? null : made.markdown;
  }

  #mayBeMade({ path, size }: FileEntry): boolean {
    return size <= PAGE_BYTES_MAX && !this.#unmakeable.has(path);
  }

  #make(entry: FileEntry, sent: SentHeaders, key: string): UnmadeFile {
    const path = twinOf(entry.path);
    const read = async (): Promise<Buffer<ArrayBuffer>> => Buffer.from((await this.#markdown(entry, sent)).markdown);
    return new UnmadeFile(path, sent, async () => {
      const bytes = await read();
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const made = { path, size: bytes.length, sha256, type: MARKDOWN_TYPE };
      const file = new SiteFile(made, this.#release, sent, false, read);
      this.#form.kept.set(key, file);
      return { file, bytes };
    });
  }

  async #markdown(entry: FileEntry, sent: SentHeaders): Promise<TwinAnswer> {
    const { to } = this.#form.mount;
    const plain = new SiteFile(entry, this.#release, sent, false);
    const mounted = { release: this.#release, basePath: to, added: NOTHING_ADDED };
    const bytes = (await makeFile(plain, entry, mounted)).bytes ?? (await plain.read());
    const order = { path: entry.path, type: entry.type, bytes, address: this.#addressOf(entry.path) };
    return making.run(() => {
      const late = AbortSignal.timeout(MAKE_MAX_MS);
      return maker.call('markdown', order, { signal: late }).catch((error: unknown) => {
        if (late.aborted || toDocshelfError(error).code === 'worker_ended') this.#unmakeable.add(entry.path);
        throw error;
      });
    });
  }

  /** That readers see: what the page's own links are relative to. */
  #addressOf(path: string): string {
    const { mount, trailingSlash } = this.#form;
    const stem = path.replace(/(?:^|\/)index\.x?html?$/i, '');
    const end = stem === path || stem === '' || trailingSlash === 'never' ? '' : '/';
    return mount.to + encodeSegments(stem) + end;
  }
}
