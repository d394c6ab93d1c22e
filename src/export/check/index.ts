import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Finding } from '../../domain/job.ts';
import { type FileEntry, isPage } from '../../domain/release.ts';
import { showName } from '../../domain/secret.ts';
import { mapAhead } from '../../files/lanes.ts';
import {
  charsetOfType,
  decodeOrKeep,
  outlinePage,
  pageText,
  type Reference,
  styleReferences,
  TrailingSlashVotes,
} from '../../web/index.ts';
import { utf8Bytes } from '../../web/rewrite/index.ts';
import { PublishedAddress } from './published-address.ts';
import { type CheckedPage, CheckedPages, ServedSite } from './served-site.ts';

export interface CheckSiteOptions {
  readonly siteDir: string;
  readonly spoolFile: string;
  readonly files: readonly FileEntry[];
  readonly hosts: readonly string[];
  /** Called in the order of pages and of references. */
  readonly find: (finding: Finding) => void;
  /** Each page and style sheet counts twice: as read, and as followed. */
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

const STYLE_SHEET = /^text\/css(?:;|$)/i;
/** Pages whose references are followed without a pause: some 20 ms. */
const FOLLOWED_AT_ONCE = 100;
const READ_AHEAD = 8;

/**
 * Reads every page and style sheet once, then follows every reference. Finds `broken_reference` (to no file, as
 * docshelf serves the site), `missing_fragment` and `off_origin_load` (of a page, from another host).
 * Checked are attributes that name URLs, `srcset` too, and styles. Not checked: scripts and what they load, `srcdoc`,
 * meta refresh; and fragments of files that are no pages.
 */
export async function checkSite(options: CheckSiteOptions): Promise<void> {
  const { siteDir, spoolFile, files, hosts, find, onProgress, signal } = options;
  const table = new Map(files.map((file) => [file.path, file]));
  const votes = new TrailingSlashVotes(table);
  const published = new PublishedAddress();
  using pages = new CheckedPages(spoolFile);

  const pageFiles = files.filter(({ path }) => isPage(path));
  const styleSheets = files.filter(({ type }) => STYLE_SHEET.test(type));
  const total = 2 * (pageFiles.length + styleSheets.length);
  let done = 0;
  const contents = mapAhead([...pageFiles, ...styleSheets], READ_AHEAD, async (file) => {
    return { file, bytes: await readFile(join(siteDir, file.path)) };
  });
  for await (const { file, bytes } of contents) {
    const { path, type } = file;
    if (isPage(path)) {
      const outline = outlinePage(pageText(bytes, type));
      votes.addReferences(path, outline);
      published.addPage(path, outline);
      pages.add(path, outline, styleReferences({ type: 'html', bytes: utf8Bytes(bytes, 'html', charsetOfType(type)) }));
    } else
      pages.addStyleSheet(path, styleReferences({ type: 'css', bytes: utf8Bytes(bytes, 'css', charsetOfType(type)) }));
    onProgress(++done, total);
    signal.throwIfAborted();
  }

  const site = new ServedSite({ files: table, trailingSlash: votes.decide(), hosts, published: published.decide() });
  for (const page of pages.all()) {
    for (const finding of findFaults(page, site, pages)) find(finding);
    onProgress(++done, total);
    // Without a pause nobody could abort.
    if (done % FOLLOWED_AT_ONCE === 0) await setImmediate();
    signal.throwIfAborted();
  }
  // A style sheet that loads nothing is not followed.
  if (done < total) onProgress(total, total);
}

const DIRECTIVE = ':~:';

function* findFaults(page: CheckedPage, site: ServedSite, pages: CheckedPages): Generator<Finding> {
  const base = site.baseOf(page.path, page.base);
  for (const reference of page.references) {
    if (reference.kind === 'canonical') continue;
    const target = site.targetOf(reference.url, base);
    if (target.kind === 'elsewhere' && reference.kind === 'asset') {
      yield finding('off_origin_load', page, reference, ` from ${target.host}`);
    }
    if (target.kind !== 'own') continue;
    const file = target.path === null ? null : site.answerTo(target.path);
    if (file === null) yield finding('broken_reference', page, reference);
    else if (reference.kind === 'link' && !hasAnchor(pages, file, target.fragment)) {
      yield finding('missing_fragment', page, reference);
    }
  }
}

/** HTML standard, "select the indicated part". True for files that are no pages. */
function hasAnchor(pages: CheckedPages, path: string, fragment: string): boolean {
  const [name = ''] = fragment.split(DIRECTIVE);
  if (name === '' || pages.hasAnchor(path, name) !== false) return true;
  const decoded = decodeOrKeep(name);
  return decoded.toLowerCase() === 'top' || pages.hasAnchor(path, decoded) === true;
}

function finding(kind: string, { path }: CheckedPage, { tag, attribute, url }: Reference, more = ''): Finding {
  return { kind, page: path, detail: `${tag} ${attribute}="${showName(url)}"${more}` };
}
