import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf } from '../../domain/errors.ts';
import { isPage, type ReleaseView, type TrailingSlash } from '../../domain/release.ts';
import { replaceFile } from '../../files/write.ts';
import type { SentHeaders } from '../answer-headers.ts';
import type { MadeFile } from '../made/make-file.ts';
import { UnmadeFile } from '../made/unmade-file.ts';
import type { PagePaths } from '../page-paths.ts';
import { SiteFile } from '../site-file.ts';
import { type ListAnswer, MORE_PAGES } from './llms-text.ts';
import type { HeadsOrder } from './read-heads.ts';
import { twinOf } from './twin-path.ts';

const LISTS = ['llms.txt', 'llms-full.txt'] as const;
export type ListName = (typeof LISTS)[number];

/** Derived, beside the release's files. Raised where other text is made. */
const FOLDER = 'markdown';
const FORMAT = 'DSM2';
/** Pages that are listed, in the order of their paths. */
const PAGES_MAX = 20_000;
/** Of all pages in one file: a page that does not fit ends it. */
const FULL_BYTES_MAX = 16 * 1024 ** 2;
export const LIST_TYPE = 'text/plain; charset=utf-8';

interface ListsForm {
  readonly basePath: string;
  readonly title: string | null;
  readonly trailingSlash: TrailingSlash;
  /** Pages that an address of their own leads to. */
  readonly openOf: PagePaths['openOf'];
  /** Null for a page that is left out. */
  readonly markdownOf: (page: string) => Promise<string | null>;
  readonly list: (order: HeadsOrder) => Promise<ListAnswer>;
}

/** `llms.txt` and `llms-full.txt` of a release, made when they are first asked for and kept with it. */
export class SiteLists {
  readonly #release: ReleaseView;
  readonly #form: ListsForm;

  constructor(release: ReleaseView, form: ListsForm) {
    this.#release = release;
    this.#form = form;
  }

  static isList(path: string): path is ListName {
    return LISTS.some((name) => name === path);
  }

  /** @param onMade takes what is made in place of this */
  at(name: ListName, given: SentHeaders, onMade: (file: SiteFile) => void): UnmadeFile {
    const sent = { ...given, headers: { 'X-Robots-Tag': 'noindex', ...given.headers } };
    return new UnmadeFile(name, sent, async () => {
      const made = await this.#make(name, sent);
      onMade(made.file);
      return made;
    });
  }

  async #make(name: ListName, sent: SentHeaders): Promise<MadeFile> {
    const folder = join(dirname(this.#release.siteDir), FOLDER);
    const path = `${this.#digestOf()}-${name}`;
    const known = await readFile(join(folder, path)).catch(() => null);
    const bytes = known ?? Buffer.from(await this.#text(name));
    const isKept = known !== null || (await keep(folder, path, bytes));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const entry = { path, size: bytes.length, sha256, type: LIST_TYPE };
    const release = { siteDir: folder, createdAt: this.#release.createdAt };
    const again = isKept ? null : async () => Buffer.from(await this.#text(name));
    return { file: new SiteFile(entry, release, sent, false, again), bytes: isKept ? null : bytes };
  }

  #digestOf(): string {
    const { trailingSlash, basePath, title } = this.#form;
    return createHash('sha256')
      .update(`${FORMAT}\n${basePath}\n${trailingSlash}\n${title ?? ''}`)
      .digest('hex')
      .slice(0, 16);
  }

  async #text(name: ListName): Promise<string> {
    const { siteDir, files, builtFor } = this.#release;
    const { basePath, title, openOf } = this.#form;
    const { open, isCut } = await openOf(Iterator.from(files.values()).filter(({ path }) => isPage(path)));
    const pages = open.slice(0, PAGES_MAX).map(({ path, type }) => ({ path, type }));
    const { text, order } = await this.#form.list({ siteDir, pages, builtFor, basePath, title });
    if (name !== 'llms.txt') return this.#fullText(text, order);
    return (isCut || open.length > PAGES_MAX) && !text.endsWith(MORE_PAGES) ? text + MORE_PAGES : text;
  }

  /** Below the site's title and summary all pages, each with its address. */
  async #fullText(list: string, order: readonly string[]): Promise<string> {
    const parts = [list.split('\n## ', 1)[0]?.trimEnd() ?? ''];
    let bytes = 0;
    for (const path of order) {
      const markdown = await this.#form.markdownOf(path);
      if (markdown === null) continue;
      bytes += Buffer.byteLength(markdown);
      if (bytes > FULL_BYTES_MAX) {
        parts.push('---', 'More pages are left out here: llms.txt lists them.');
        break;
      }
      parts.push('---', `Source: ${this.#form.basePath}${twinOf(path)}`, markdown.trimEnd());
    }
    return `${parts.join('\n\n')}\n`;
  }
}

/** False where it cannot be written; a release that is gone is not made anew. */
async function keep(folder: string, name: string, bytes: Buffer): Promise<boolean> {
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
