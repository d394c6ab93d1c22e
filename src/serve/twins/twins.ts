import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type FileEntry, isPage, type ReleaseView, type TrailingSlash } from '../../domain/release.ts';
import { threadEntry } from '../../threads/index.ts';
import { encodeSegments } from '../../web/escape.ts';
import type { Mount } from '../../web/mount/base-path.ts';
import { type HeaderPolicy, type SentHeaders, VARIES } from '../answer-headers.ts';
import type { Found } from '../found.ts';
import { makeFile, NOTHING_ADDED } from '../made/make-file.ts';
import { Makers, OverlongFiles } from '../made/making-limits.ts';
import { type SnapshotFile, UnmadeFile } from '../made/unmade-file.ts';
import type { PagePaths } from '../page-paths.ts';
import { readSiteFile } from '../site-bytes.ts';
import { SiteFile } from '../site-file.ts';
import { LIST_TYPE, type ListName, SiteLists } from './site-lists.ts';
import { ownTwin, pageOfTwin, twinOf } from './twin-path.ts';
import type { TwinAnswer, TwinCalls } from './worker.ts';

/** Of a page. Larger ones are data, and have no twin. */
const PAGE_BYTES_MAX = 2 * 1024 ** 2;
/** 20,000 pages by their heads, on a busy disk. */
const LIST_MS_MAX = 300_000;
/** A site works on one page and one list at a time, and leaves a place for another site. */
const PLACES = { entry: threadEntry('./worker', import.meta), max: 2, siteMax: 1 };
const makers = new Makers<TwinCalls>({ ...PLACES, task: 'make the Markdown of a page' });
const listers = new Makers<TwinCalls>({ ...PLACES, task: 'list the pages of a site', msMax: LIST_MS_MAX });

const MARKDOWN_TYPE = 'text/markdown; charset=utf-8';

interface TwinsForm {
  readonly mount: Mount;
  /** Of the site; null: that of its first page. */
  readonly title: string | null;
  /** Takes turns with other sites. */
  readonly site: string;
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
  /** Pages that have no twin. */
  readonly overlong = new OverlongFiles();

  constructor(release: ReleaseView, form: TwinsForm) {
    this.#release = release;
    this.#form = form;
    this.#lists = new SiteLists(release, {
      basePath: form.mount.to,
      title: form.title,
      trailingSlash: form.trailingSlash,
      openOf: (pages) => form.pages.openOf(pages),
      // Lists are kept with the release: they are made to their end, whoever leaves.
      markdownOf: (page) => this.#textOf(page),
      list: (order) => listers.run({ path: 'llms.txt', size: 0 }, { key: form.site }, (call) => call('list', order)),
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

  #mayBeMade(entry: FileEntry): boolean {
    return entry.size <= PAGE_BYTES_MAX && this.overlong.allows(entry);
  }

  #make(entry: FileEntry, sent: SentHeaders, key: string): UnmadeFile {
    const path = twinOf(entry.path);
    const read = async (signal?: AbortSignal): Promise<Buffer<ArrayBuffer>> =>
      Buffer.from((await this.#markdown(entry, sent, signal)).markdown);
    return new UnmadeFile(path, sent, async (signal) => {
      const bytes = await read(signal);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const made = { path, size: bytes.length, sha256, type: MARKDOWN_TYPE };
      const file = new SiteFile(made, this.#release, sent, false, () => read());
      this.#form.kept.set(key, file);
      return { file, bytes };
    });
  }

  async #markdown(entry: FileEntry, sent: SentHeaders, wanted?: AbortSignal): Promise<TwinAnswer> {
    const { mount, site } = this.#form;
    const { to } = mount;
    const plain = new SiteFile(entry, this.#release, sent, false);
    const mounted = { release: this.#release, basePath: to, added: NOTHING_ADDED, site, overlong: this.overlong };
    const bytes = (await makeFile(plain, entry, mounted, wanted)).bytes ?? (await plain.read());
    const order = { path: entry.path, type: entry.type, bytes, address: this.#addressOf(entry.path) };
    try {
      return await makers.run(entry, { key: site, signal: wanted }, (call) => call('markdown', order));
    } catch (error) {
      if (wanted?.aborted !== true) this.overlong.note(entry.path, error, 1);
      throw error;
    }
  }

  /** That readers see: what the page's own links are relative to. */
  #addressOf(path: string): string {
    const { mount, trailingSlash } = this.#form;
    const stem = path.replace(/(?:^|\/)index\.x?html?$/i, '');
    const end = stem === path || stem === '' || trailingSlash === 'never' ? '' : '/';
    return mount.to + encodeSegments(stem) + end;
  }
}
