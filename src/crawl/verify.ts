import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError } from '../domain/errors.ts';
import type { Finding } from '../domain/job.ts';
import { type FileEntry, isPage } from '../domain/release.ts';
import { linkWithoutSecrets } from '../domain/secret.ts';
import { replaceFile } from '../files/index.ts';
import { encodeSegments, percentDecode } from '../web/escape.ts';
import { resolvePath } from '../web/resolve.ts';
import type { ChromiumSession, OpenBrowser } from './browser/chromium-session.ts';
import type { FetchedAnswer } from './fetcher.ts';
import { countMissing, countWords } from './render/choose-html.ts';
import type { CrawledLiveSite } from './render/live-site.ts';
import { type AnswerRequest, type BrowserPage, hasText, livePageOf, normalText } from './render/rendered-page.ts';

export type LiveSite = Pick<CrawledLiveSite, 'urlOf' | 'seen' | 'answer'>;

export interface VerifySiteOptions {
  readonly openBrowser: OpenBrowser;
  readonly siteDir: string;
  readonly files: readonly FileEntry[];
  readonly live: LiveSite | null;
  readonly picturesDir: string;
  readonly find: (finding: Finding) => void;
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

const PAGES_MAX = 200;
const PICTURED_MAX = 5;

/**
 * Opens up to 200 exported pages in an isolated browser. Reports differences from the live page (`failed_request`,
 * `console_error`, `changed_text`), requests to other hosts, unfinished pages, and `clean_url_needed` if some static hosts cannot
 * serve a request.
 */
export async function verifySite(options: VerifySiteOptions): Promise<void> {
  try {
    const cleanUrls = new Set<string>();
    const host = staticHost(options, (path) => cleanUrls.add(path));
    await using verification = new Verification(options, await options.openBrowser(host), cleanUrls);
    await verification.run();
  } catch (error) {
    options.signal.throwIfAborted();
    const isBrowsers =
      error instanceof DocshelfError && (error.code === 'browser_missing' || error.code === 'browser_failed');
    if (!isBrowsers) throw error;
    options.find({ kind: 'not_verified', page: '', detail: error.message });
  }
}

class Verification {
  readonly #options: VerifySiteOptions;
  readonly #written: ChromiumSession;
  readonly #cleanUrls: ReadonlySet<string>;
  #live: Promise<ChromiumSession> | null = null;

  constructor(options: VerifySiteOptions, written: ChromiumSession, cleanUrls: ReadonlySet<string>) {
    this.#options = options;
    this.#written = written;
    this.#cleanUrls = cleanUrls;
  }

  async run(): Promise<void> {
    const { files, find, onProgress } = this.#options;
    const paths = files.map(({ path }) => path).filter(isPage);
    const pages = sampleOf(paths, PAGES_MAX);
    const judged = new Map<string, Judged>();
    const waiting = pages[Symbol.iterator]();
    const work = async (): Promise<void> => {
      for (const path of waiting) {
        judged.set(path, await this.#judge(path));
        onProgress(judged.size, pages.length);
      }
    };
    await Promise.all(Array.from({ length: this.#written.tabs }, work));

    const weightOf = (path: string): number => judged.get(path)?.weight ?? 0;
    for (const path of pages) for (const finding of judged.get(path)?.findings ?? []) find(finding);
    for (const path of [...this.#cleanUrls].sort()) find({ kind: 'clean_url_needed', page: '', detail: path });
    const worst = pages.filter((path) => weightOf(path) > 0).sort((a, b) => weightOf(b) - weightOf(a));
    for (const [at, path] of worst.slice(0, PICTURED_MAX).entries()) await this.#picture(path, at + 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#written.close();
    const live = await this.#live?.catch(() => null);
    await live?.close();
  }

  async #judge(path: string): Promise<Judged> {
    const { live, signal } = this.#options;
    const written = await this.#written.render(addressOf(path), { signal });
    const seen = live?.seen(path) ?? null;
    const text = written.dom?.text ?? null;
    const judgedBySeen = judgePage(path, written, seen, null);
    const isSame = text === null || (seen !== null && hasText(seen, text));
    const url = live?.urlOf(path) ?? null;
    if (url === null || (isSame && judgedBySeen.weight === 0)) return judgedBySeen;
    const now = await (await this.#liveSession()).render(url, { signal });
    const change = text === null || now.dom === null ? null : compareText(now.dom.text, text);
    const faults = livePageOf(now);
    const both = {
      failures: [...(seen?.failures ?? []), ...faults.failures],
      consoleErrors: [...(seen?.consoleErrors ?? []), ...faults.consoleErrors],
    };
    return judgePage(path, written, both, isSame ? null : change);
  }

  async #picture(path: string, number: number): Promise<void> {
    const { live, picturesDir, find, signal } = this.#options;
    const url = live?.urlOf(path) ?? null;
    const sides = [
      ...(url === null ? [] : [{ side: 'live', session: await this.#liveSession(), address: url }]),
      { side: 'written', session: this.#written, address: addressOf(path) },
    ];
    const names: string[] = [];
    for (const { side, session, address } of sides) {
      const { screenshot } = await session.render(address, { signal, withScreenshot: true });
      if (screenshot === null) continue;
      await mkdir(picturesDir, { recursive: true });
      const name = `${number}-${side}.png`;
      await replaceFile(join(picturesDir, name), screenshot);
      names.push(name);
    }
    if (names.length > 0) find({ kind: 'pictures', page: path, detail: names.join(', ') });
  }

  #liveSession(): Promise<ChromiumSession> {
    const { live, openBrowser } = this.#options;
    if (live === null) throw new Error('there is no live site');
    this.#live ??= openBrowser(live.answer);
    return this.#live;
  }
}

export function sampleOf<Item>(items: readonly Item[], max: number): readonly Item[] {
  if (items.length <= max) return items;
  return Array.from({ length: max }, (_, at) => items[Math.floor((at * items.length) / max)] as Item);
}

type LiveFaults = { readonly failures: readonly string[]; readonly consoleErrors: readonly string[] };

type Judged = { readonly findings: readonly Finding[]; readonly weight: number };

/** Weights of findings. A missing word has the weight 1. The pages with the largest total weights get a screenshot. */
const FAILED_WEIGHT = 20;
const CONSOLE_WEIGHT = 10;
const OFF_ORIGIN_WEIGHT = 2;
const BROKEN_WEIGHT = 1_000;

/** Matches addresses in messages of the browser. Comparisons ignore addresses, because the exported site has other addresses. */
const URL_IN_TEXT = /\b(?:https?|blob):\/*[^\s'")]+/g;
const NUMBER = /\d+/g;

export function judgePage(
  path: string,
  { state, reason, failures, consoleErrors }: BrowserPage,
  live: LiveFaults | null,
  change: TextChange | null,
): Judged {
  const findings: Finding[] = [];
  let weight = 0;
  const add = (kind: string, detail: string, weighs: number): void => {
    findings.push({ kind, page: path, detail });
    weight += weighs;
  };
  const isBroken = state === 'hung' || state === 'crashed' || state === 'failed';
  if (isBroken) add('not_rendered', `${state}: ${reason ?? 'no reason is known'}`, BROKEN_WEIGHT);

  const failedLive = new Set(live?.failures.map(addressWithoutOrigin));
  for (const { url, why } of failures) {
    if (!isWritten(url)) add('off_origin_request', linkWithoutSecrets(url), OFF_ORIGIN_WEIGHT);
    else if (!failedLive.has(addressWithoutOrigin(url))) {
      add('failed_request', `${addressWithoutOrigin(url)}: ${why}`, FAILED_WEIGHT);
    }
  }
  const liveErrors = new Set(live?.consoleErrors.map(gist));
  for (const error of consoleErrors) {
    const isAboutRequest = failures.some(({ url }) => error.includes(url));
    if (!isAboutRequest && !liveErrors.has(gist(error))) add('console_error', oneLine(error), CONSOLE_WEIGHT);
  }
  if (change !== null) add('changed_text', change.detail, 1 + change.missing + change.added);
  return { findings, weight };
}

const isWritten = (url: string): boolean => new URL(url).host === new URL(WRITTEN_ORIGIN).host;

function addressWithoutOrigin(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

const gist = (message: string): string => message.replace(URL_IN_TEXT, '').replace(NUMBER, '');

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

type TextChange = { readonly missing: number; readonly added: number; readonly detail: string };

const SHOWN_WORDS = 8;
const SHOWN_CHARACTERS_MAX = 120;

export function compareText(live: string, written: string): TextChange | null {
  const before = wordsOf(live);
  const after = wordsOf(written);
  const at = before.findIndex((word, index) => word !== after[index]);
  if (at === -1 && before.length === after.length) return null;
  const from = at === -1 ? before.length : at;
  const [counts, countsAfter] = [countWords(before), countWords(after)];
  const missing = countMissing(counts, countsAfter);
  const added = countMissing(countsAfter, counts);
  const detail = `words missing: ${missing}, words added: ${added}; first difference: the live page has ${show(before, from)}, the exported page has ${show(after, from)}`;
  return { missing, added, detail };
}

function wordsOf(text: string): string[] {
  const normal = normalText(text);
  return normal === '' ? [] : normal.split(' ');
}

function show(words: readonly string[], from: number): string {
  const shown = words.slice(from, from + SHOWN_WORDS).join(' ');
  return shown === '' ? 'no more words' : `"${shown.slice(0, SHOWN_CHARACTERS_MAX)}"`;
}

const HOST = 'written.localhost';
export const WRITTEN_ORIGIN = `http://${HOST}`;

type HostAnswer =
  /** File that static hosts serve for a path. `isPlain` is false if only hosts that resolve `a` to `a.html` serve the file. */
  | { readonly kind: 'file'; readonly path: string; readonly isPlain: boolean }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'missing' };

/** Resolves a path as static hosts do (a file, `index.html`, or an added slash), else as docshelf does. @param path decoded path */
export function resolveOnHost(files: ReadonlyMap<string, unknown>, path: string): HostAnswer {
  if (files.has(path)) return { kind: 'file', path, isPlain: true };
  const folder = path === '' || path.endsWith('/') ? path : `${path}/`;
  if (files.has(`${folder}index.html`)) {
    if (folder === path) return { kind: 'file', path: `${path}index.html`, isPlain: true };
    return { kind: 'redirect', location: `/${encodeURI(folder)}` };
  }
  const found = resolvePath(files, path, 'always');
  if (found.kind === 'file') return { kind: 'file', path: found.path, isPlain: false };
  return found.kind === 'redirect' ? found : { kind: 'missing' };
}

function staticHost(
  { siteDir, files: all }: Pick<VerifySiteOptions, 'siteDir' | 'files'>,
  onCleanUrl: (path: string) => void,
): AnswerRequest {
  const files = new Map(all.map((file) => [file.path, file]));
  return async ({ url }) => {
    const { hostname, pathname } = new URL(url);
    if (hostname !== HOST)
      throw new DocshelfError(
        'address_not_allowed',
        `Cannot fetch "${url}": exported pages are verified without a network`,
      );
    const path = percentDecode(pathname)?.slice(1);
    const found = path === undefined ? ({ kind: 'missing' } as const) : resolveOnHost(files, path);
    if (found.kind === 'redirect') return answerOf(301, { location: found.location });
    const file = found.kind === 'missing' ? undefined : files.get(found.path);
    if (found.kind === 'missing' || file === undefined) return answerOf(404, { 'content-type': 'text/plain' });
    if (!found.isPlain) onCleanUrl(pathname);
    return answerOf(200, { 'content-type': file.type }, await readFile(join(siteDir, file.path)));
  };
}

export function addressOf(path: string): string {
  const shown = path.replace(/(^|\/)index\.html$/, '$1');
  return `${WRITTEN_ORIGIN}/${encodeSegments(shown)}`;
}

function answerOf(status: number, headers: Readonly<Record<string, string>>, body = new Uint8Array()): FetchedAnswer {
  return { status, header: (name) => headers[name] ?? null, body };
}
