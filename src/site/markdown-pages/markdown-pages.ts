import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../domain/errors.ts';
import { type FileEntry, isPage, type ReleaseView, type TrailingSlash } from '../../domain/release.ts';
import { replaceFile } from '../../files/write.ts';
import { threadEntry } from '../../threads/index.ts';
import { encodeSegments } from '../../web/escape.ts';
import type { Mount } from '../../web/mount/base-path.ts';
import { type ExtraHeaders, type HeaderPolicy, VARIES } from '../answer-headers.ts';
import type { BodyCache } from '../body-cache.ts';
import type { Found } from '../found.ts';
import { bundledMarkdownOf, markdownPathOf, type PagePaths, pageOfMarkdown } from '../page-paths.ts';
import { canonicalise } from '../request.ts';
import { readSiteFile } from '../site-bytes.ts';
import { SiteFile } from '../site-file.ts';
import {
  LazyTransform,
  NOTHING_ADDED,
  type SnapshotFile,
  type TransformedFile,
  transformFile,
} from '../transform/make-file.ts';
import { OverlongFiles, TransformThreads } from '../transform/making-limits.ts';
import { type ListAnswer, MORE_PAGES } from './llms-text.ts';
import type { MarkdownCalls, MarkdownResult } from './worker.ts';

const PAGE_BYTES_MAX = 2 * 1024 ** 2;
/** Maximum processor time to list the pages of a site, enough to read the heads of 20,000 pages. */
const LIST_MS_MAX = 300_000;
const PLACES = { entry: threadEntry('./worker', import.meta), max: 2, siteMax: 1 };
const makers = new TransformThreads<MarkdownCalls>({ ...PLACES, task: 'make the Markdown of a page' });
const listers = new TransformThreads<MarkdownCalls>({
  ...PLACES,
  task: 'list the pages of a site',
  msMax: LIST_MS_MAX,
});

const MARKDOWN_TYPE = 'text/markdown; charset=utf-8';
const LIST_TYPE = 'text/plain; charset=utf-8';

const LISTS = ['llms.txt', 'llms-full.txt'] as const;
type ListName = (typeof LISTS)[number];
const LISTS_FOLDER = 'markdown';
/** Format of `llms.txt`. Increase the number if docshelf generates another text, because the file is stored with the release. */
const LISTS_FORMAT = 'DSM2';
const LISTED_MAX = 20_000;
const FULL_BYTES_MAX = 16 * 1024 ** 2;

interface MarkdownPagesOptions {
  readonly mount: Mount;
  readonly title: string | null;
  readonly site: string;
  readonly trailingSlash: TrailingSlash;
  readonly headers: HeaderPolicy;
  /** Cache of the release's files. Keys for Markdown end in a line feed, so that they differ from all other keys. */
  readonly kept: { get(key: string): SnapshotFile | undefined; set(key: string, file: SnapshotFile): unknown };
  readonly fileAt: (path: string, built: string) => SnapshotFile | null;
  readonly pages: PagePaths;
}

export class MarkdownPages {
  readonly #release: ReleaseView;
  readonly #form: MarkdownPagesOptions;
  readonly overlong = new OverlongFiles();

  constructor(release: ReleaseView, form: MarkdownPagesOptions) {
    this.#release = release;
    this.#form = form;
  }

  at(path: string, built: string | null): SnapshotFile | null {
    const list = LISTS.find((name) => name === path);
    if (list !== undefined) return this.#list(list, built ?? this.#form.mount.from + path);
    const page = pageOfMarkdown(this.#release.files, path);
    return page === null || !this.#form.pages.isOpen(page) ? null : this.markdownOf(page, built);
  }

  /** Markdown of a page: the bundle's own file, or else a conversion. Null if `page` is not a page, or if it is too large. */
  markdownOf(page: string, built: string | null = null): SnapshotFile | null {
    const { files } = this.#release;
    const { mount, headers, kept, fileAt } = this.#form;
    const entry = isPage(page) ? files.get(page) : undefined;
    if (entry === undefined) return null;
    const own = bundledMarkdownOf(files, page);
    if (own !== null) return fileAt(own, mount.from + own);
    if (!this.#mayBeMade(entry)) return null;
    const { id, headers: sent, cacheControl } = headers.headersFor(built ?? mount.from + page, MARKDOWN_TYPE);
    const key = `${id}\n${page}\n`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    // Send `noindex`, because the Markdown would compete with its page in search engines.
    const made = this.#make(
      entry,
      { id, cacheControl, headers: { Vary: VARIES, 'X-Robots-Tag': 'noindex', ...sent } },
      key,
    );
    kept.set(key, made);
    return made;
  }

  readonly preferMarkdown = (found: Found): Found => {
    const markdown = found.kind === 'file' ? this.markdownOf(found.file.path) : null;
    return markdown === null ? found : { kind: 'file', file: markdown, isPassing: true };
  };

  #list(name: ListName, built: string): SnapshotFile {
    const { headers, kept } = this.#form;
    const given = headers.headersFor(built, LIST_TYPE);
    const key = `${given.id}\n${name}\n`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const sent = { ...given, headers: { 'X-Robots-Tag': 'noindex', ...given.headers } };
    const list = new LazyTransform(name, sent, async () => {
      const made = await this.#makeList(name, sent);
      kept.set(key, made.file);
      return made;
    });
    kept.set(key, list);
    return list;
  }

  /** Creates a list such as `llms.txt`. Continues if the client disconnects, because docshelf stores the list with the release. */
  async #makeList(name: ListName, sent: ExtraHeaders): Promise<TransformedFile> {
    const { mount, title, trailingSlash } = this.#form;
    const { releaseDir, createdAt } = this.#release;
    const folder = join(releaseDir, LISTS_FOLDER);
    const form = createHash('sha256').update(`${LISTS_FORMAT}\n${mount.to}\n${trailingSlash}\n${title ?? ''}`);
    const path = `${form.digest('hex').slice(0, 16)}-${name}`;
    const known = await readFile(join(folder, path)).catch(() => null);
    const bytes = known ?? Buffer.from(await this.#listText(name));
    const isKept = known !== null || (await keepList(folder, path, bytes));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const entry = { path, size: bytes.length, sha256, type: LIST_TYPE };
    const release = { releaseDir, siteDir: folder, createdAt };
    const again = isKept ? null : async () => Buffer.from(await this.#listText(name));
    return { file: new SiteFile(entry, release, sent, false, again), bytes: isKept ? null : bytes };
  }

  async #listText(name: ListName): Promise<string> {
    const { siteDir, files, builtFor } = this.#release;
    const { mount, title, site } = this.#form;
    const all = Iterator.from(files.values()).filter(({ path }) => isPage(path));
    const { open, isCut } = await this.#form.pages.openPages(all);
    const pages = open.slice(0, LISTED_MAX).map(({ path, type }) => ({ path, type }));
    const request = { siteDir, pages, builtFor, basePath: mount.to, title };
    const list = await listers.run({ path: 'llms.txt', size: 0 }, { key: site }, (call) => call('list', request));
    if (name !== 'llms.txt') return this.#fullText(list);
    const { text } = list;
    return (isCut || open.length > LISTED_MAX) && !text.endsWith(MORE_PAGES) ? text + MORE_PAGES : text;
  }

  async #fullText({ text, order }: ListAnswer): Promise<string> {
    const parts = [text.split('\n## ', 1)[0]?.trimEnd() ?? ''];
    let bytes = 0;
    for (const path of order) {
      const markdown = await this.#textOf(path);
      if (markdown === null) continue;
      bytes += Buffer.byteLength(markdown);
      if (bytes > FULL_BYTES_MAX) {
        parts.push('---', 'This text omits some pages; llms.txt lists them.');
        break;
      }
      parts.push('---', `Source: ${this.#form.mount.to}${markdownPathOf(path)}`, markdown.trimEnd());
    }
    return `${parts.join('\n\n')}\n`;
  }

  async #textOf(page: string): Promise<string | null> {
    const { files, siteDir } = this.#release;
    const entry = files.get(page);
    if (entry === undefined) return null;
    const own = files.get(bundledMarkdownOf(files, page) ?? '');
    if (own !== undefined && own.size <= PAGE_BYTES_MAX) {
      return (await readSiteFile({ diskPath: join(siteDir, own.path), size: own.size })).toString('utf8');
    }
    if (!this.#mayBeMade(entry)) return null;
    const sent = this.#form.headers.headersFor(this.#form.mount.from + page, MARKDOWN_TYPE);
    const made = await this.#markdown(entry, sent).catch((error: unknown) => {
      if (this.#mayBeMade(entry)) throw error;
      return null;
    });
    return made === null || made.isLeftOut ? null : made.markdown;
  }

  #mayBeMade(entry: FileEntry): boolean {
    return entry.size <= PAGE_BYTES_MAX && this.overlong.allows(entry);
  }

  #make(entry: FileEntry, sent: ExtraHeaders, key: string): LazyTransform {
    const path = markdownPathOf(entry.path);
    const read = async (signal?: AbortSignal): Promise<Buffer<ArrayBuffer>> =>
      Buffer.from((await this.#markdown(entry, sent, signal)).markdown);
    return new LazyTransform(path, sent, async (signal) => {
      const bytes = await read(signal);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const made = { path, size: bytes.length, sha256, type: MARKDOWN_TYPE };
      const file = new SiteFile(made, this.#release, sent, false, () => read());
      this.#form.kept.set(key, file);
      return { file, bytes };
    });
  }

  async #markdown(entry: FileEntry, sent: ExtraHeaders, wanted?: AbortSignal): Promise<MarkdownResult> {
    const { mount, site } = this.#form;
    const { to } = mount;
    const plain = new SiteFile(entry, this.#release, sent, false);
    const mounted = { release: this.#release, basePath: to, added: NOTHING_ADDED, site, overlong: this.overlong };
    const bytes = (await transformFile(plain, entry, mounted, wanted)).bytes ?? (await plain.read());
    const request = { path: entry.path, type: entry.type, bytes, address: this.#addressOf(entry.path) };
    try {
      return await makers.run(entry, { key: site, signal: wanted }, (call) => call('markdown', request));
    } catch (error) {
      if (wanted?.aborted !== true) this.overlong.note(entry.path, error, 1);
      throw error;
    }
  }

  /** Address under which readers open the page. The page's links are relative to this address. */
  #addressOf(path: string): string {
    const { mount, trailingSlash } = this.#form;
    const stem = path.replace(/(?:^|\/)index\.x?html?$/i, '');
    const end = stem === path || stem === '' || trailingSlash === 'never' ? '' : '/';
    return mount.to + encodeSegments(stem) + end;
  }
}

/** Stores `llms.txt` or `llms-full.txt`. Returns false if the file cannot be written, for example because the release was removed. */
async function keepList(folder: string, name: string, bytes: Buffer): Promise<boolean> {
  try {
    await mkdir(folder).catch((error: unknown) => {
      if (errnoOf(error) !== 'EEXIST') throw error;
    });
    await replaceFile(join(folder, name), bytes);
    return true;
  } catch {
    return false;
  }
}

export interface PageMarkdownText {
  readonly page: string;
  readonly title: string;
  readonly markdown: string;
}

/**
 * Reads the Markdown of the page at which redirects from `path` end. Null if no such page exists.
 * @throws DocshelfError `cannot_read`, `worker_ended`, `deadline_exceeded`
 */
export async function readMarkdown(
  snapshot: { readonly pages: PagePaths; markdownOf(page: string): SnapshotFile | null },
  bodies: BodyCache,
  path: string,
  signal?: AbortSignal,
): Promise<PageMarkdownText | null> {
  const target = canonicalise(path.startsWith('/') ? path : `/${path}`);
  const page = target.kind === 'path' ? snapshot.pages.pageAt(target.path) : null;
  const found = page === null ? null : snapshot.markdownOf(page);
  if (page === null || found === null) return null;
  const file = found instanceof LazyTransform ? await found.make(bodies, signal) : found;
  const { bytes } = bodies.get(file, 'identity') ?? (await bodies.load(file, 'identity'));
  const markdown = bytes.toString('utf8');
  return { page, title: titleOf(markdown), markdown };
}

const FRONT_MATTER = /^---\r?\n([\s\S]{0,10000}?)\r?\n---\r?\n/;

function titleOf(markdown: string): string {
  const matter = FRONT_MATTER.exec(markdown)?.[1] ?? '';
  const title = /^title:[ \t]*(['"]?)(.*?)\1[ \t]*$/m.exec(matter)?.[2];
  return title || (/^# +(.+)$/m.exec(markdown)?.[1] ?? '').replace(/\\([!-/:-@[-`{-~])/g, '$1').trim();
}
