/**
 * The check of a written site: does every reference lead where a reader of the served site gets something, do fragments exist,
 * and what do pages load from elsewhere.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Finding } from '../../domain/job.ts';
import { type FileEntry, isPage } from '../../domain/release.ts';
import { outlinePage, pageText, TrailingSlashVotes } from '../../web/index.ts';
import { CheckedPages } from './checked-pages.ts';
import { findFaults } from './find-faults.ts';
import { PublishedAddress } from './published-address.ts';
import { ServedSite } from './served-site.ts';

export interface CheckSiteOptions {
  /** Holds the site's files, at their paths. */
  readonly siteDir: string;
  /** Where nothing is yet: for what waits on the disk meanwhile; nothing is left there. */
  readonly spoolFile: string;
  readonly files: readonly FileEntry[];
  /** Host names of the site, in lower case: absolute references to them are its own. */
  readonly hosts: readonly string[];
  /** Called in the order of pages, and in a page in the order of its references. */
  readonly find: (finding: Finding) => void;
  /** Each page counts twice: once it is read, once its references are followed. */
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

/** Pages whose references are followed without a pause: some 20 ms. */
const FOLLOWED_AT_ONCE = 100;
/** Pages that are read ahead while one is parsed. */
const READ_AHEAD = 8;

/**
 * Finds `broken_reference` (leads to no file, as docshelf serves the site), `missing_fragment` (the page is there, and what
 * the fragment names is not) and `off_origin_load` (something that the page loads from another host; links are none).
 *
 * What is looked at are the attributes that name URLs, `srcset` too. Not looked at: styles (`url()`, `@import`, `style`
 * attributes), scripts and what they load, `srcdoc`, meta refresh; and fragments of files that are no pages.
 *
 * 1. Read every page once: its references and anchors, and what the pages together say of the site's addresses.
 * 2. Follow every reference.
 *
 * Of every page its anchors stay in memory, and not its text.
 *
 * @throws the system's own errors; the signal's reason when it is aborted
 */
export async function checkSite(options: CheckSiteOptions): Promise<void> {
  const { siteDir, spoolFile, files, hosts, find, onProgress, signal } = options;
  const table = new Map(files.map((file) => [file.path, file]));
  const votes = new TrailingSlashVotes(table);
  const published = new PublishedAddress();
  using pages = new CheckedPages(spoolFile);

  const pageFiles = files.filter(({ path }) => isPage(path));
  for await (const { path, html } of texts(siteDir, pageFiles, signal)) {
    const outline = outlinePage(html);
    votes.addReferences(path, outline);
    published.addPage(path, outline);
    pages.add(path, outline);
    onProgress(pages.count, 2 * pageFiles.length);
  }

  const site = new ServedSite({ files: table, trailingSlash: votes.decide(), hosts, published: published.decide() });
  let followed = 0;
  for (const page of pages.all()) {
    for (const finding of findFaults(page, site, pages)) find(finding);
    followed += 1;
    onProgress(pages.count + followed, 2 * pageFiles.length);
    // Nothing is waited for here: without a pause nobody could abort.
    if (followed % FOLLOWED_AT_ONCE === 0) await setImmediate();
    signal.throwIfAborted();
  }
}

/** The pages' texts in their order, the next ones being read meanwhile. */
async function* texts(
  siteDir: string,
  pages: readonly FileEntry[],
  signal: AbortSignal,
): AsyncGenerator<{ path: string; html: string }> {
  const reading: Promise<{ path: string; html: string }>[] = [];
  const readNext = (page: FileEntry): void => {
    const text = readFile(join(siteDir, page.path)).then((bytes) => ({
      path: page.path,
      html: pageText(bytes, page.type),
    }));
    // Whoever takes it hears of a failure; until then it must not count as unhandled.
    text.catch(() => undefined);
    reading.push(text);
  };
  for (const page of pages.slice(0, READ_AHEAD)) readNext(page);
  for (let at = READ_AHEAD; ; at++) {
    signal.throwIfAborted();
    const text = reading.shift();
    if (text === undefined) return;
    yield await text;
    const page = pages[at];
    if (page !== undefined) readNext(page);
  }
}
