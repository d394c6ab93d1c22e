import type { SiteSink, StoredContent } from '../domain/job.ts';
import { isPage } from '../domain/release.ts';
import { Lanes } from '../files/lanes.ts';
import { escapeHtml, percentDecode } from '../web/escape.ts';
import { mediaTypeOf } from '../web/media-type.ts';
import { encodePath, relativeUrl } from '../web/rewrite/write.ts';
import { RULE_FILE_BYTES_MAX } from '../web/rules/index.ts';
import { type ContentEntry, contentOf, type Entry, hasContent, isPageType } from './entry.ts';
import { assignNames, naturalName, pathOf } from './names.ts';
import type { PageThreads } from './pages/page-threads.ts';
import type { Scope } from './scope.ts';

interface WriteSiteOptions {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly withDigest: ReadonlySet<string>;
  readonly scope: Scope;
  readonly notFound: Entry | null;
  readonly startUrl: string;
  readonly threads: PageThreads;
  readonly sink: SiteSink;
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

const NOT_FOUND_PATH = '404.html';
const REDIRECTS_PATH = '_redirects';
/** Maximum files to write concurrently: several for each thread, so that no thread waits for its next file. */
const IN_FLIGHT_MAX = 16;

/** Writes files before pages, because a page may contain the digests of files. */
export async function writeSite(options: WriteSiteOptions): Promise<ReadonlyMap<string, string>> {
  const { entries, scope, threads, withDigest, notFound } = options;
  const redirects = findRedirects(entries, scope);
  const contents = [...entries.values()].filter(hasContent);
  const paths = nameContents(contents, notFound, scope);
  const fragments = new Map<string, string>();
  const withRedirects = new Map(paths);
  for (const { url, target, fragment } of redirects) {
    const path = paths.get(target);
    if (path === undefined) continue;
    withRedirects.set(url, path);
    if (fragment !== '') fragments.set(url, fragment);
  }
  if (notFound !== null) withRedirects.set(notFound.url, NOT_FOUND_PATH);
  const asked = contents.filter(({ askedAs }) => askedAs === 'browser').map(({ url }) => url);
  await threads.callAll('useNames', { paths: withRedirects, fragments, asked });

  const files = filesOf(contents, paths);
  if (notFound !== null) files.push({ entry: notFound as ContentEntry, path: NOT_FOUND_PATH, isRooted: true });
  const writing = new Writing(options, files.length);
  const [pages, others] = [files.filter(isPageFile), files.filter((file) => !isPageFile(file))];
  await writing.writeAll(others, withDigest);
  await threads.callAll('useDigests', writing.digests);
  await writing.writeAll(pages, new Set());

  await writeRedirects(redirects, paths, options, writing);
  await writeRoot(withRedirects, options);
  return withRedirects;
}

type SiteFile = { readonly entry: ContentEntry; readonly path: string; readonly isRooted?: boolean };

const isPageFile = ({ entry }: SiteFile): boolean => isPageType(entry.type);

function nameContents(contents: readonly ContentEntry[], notFound: Entry | null, scope: Scope): Map<string, string> {
  const named = contents.map((entry) => {
    const { url, type, askedAs } = entry;
    const isAskedByScript = askedAs === 'browser' && !isPageType(type);
    return { url, type: isAskedByScript ? '' : type, sha256: contentOf(entry).sha256 };
  });
  if (notFound === null) return assignNames(named, scope.origin, [REDIRECTS_PATH]);
  const own = new Set([`${scope.origin}/404`, `${scope.origin}/404.html`]);
  const paths = assignNames(
    named.filter(({ url }) => !own.has(url)),
    scope.origin,
    [REDIRECTS_PATH, NOT_FOUND_PATH],
  );
  for (const url of own) paths.set(url, NOT_FOUND_PATH);
  return paths;
}

function filesOf(contents: readonly ContentEntry[], paths: ReadonlyMap<string, string>): SiteFile[] {
  const byPath = new Map<string, SiteFile>();
  for (const entry of contents) {
    const path = paths.get(entry.url);
    if (path !== undefined && path !== NOT_FOUND_PATH && !byPath.has(path)) byPath.set(path, { entry, path });
  }
  return [...byPath.values()];
}

class Writing {
  readonly digests = new Map<string, string>();
  readonly #options: WriteSiteOptions;
  #total: number;
  #done = 0;

  constructor(options: WriteSiteOptions, total: number) {
    this.#options = options;
    this.#total = total;
  }

  async writeAll(files: readonly SiteFile[], withDigest: ReadonlySet<string>): Promise<void> {
    const { signal } = this.#options;
    await using lanes = new Lanes(IN_FLIGHT_MAX);
    for (const file of files) {
      await lanes.run(async () => {
        signal.throwIfAborted();
        await this.write(file, withDigest.has(file.entry.url));
      });
    }
    await lanes.drain();
  }

  async write({ entry, path, isRooted = false }: SiteFile, needsDigest: boolean): Promise<void> {
    const { threads, sink, onProgress } = this.#options;
    const { url, source } = entry;
    const type = mediaTypeOf(path);
    const content = contentOf(entry);
    let stored: StoredContent = { sha256: content.sha256, size: content.size, type };
    if (source !== null) {
      const written = await threads.call('write', { url, path, content, type: source, isRooted, needsDigest });
      stored = { ...written.content, type };
      if (written.integrity !== null) this.digests.set(url, written.integrity);
    }
    await sink.add(path, stored);
    this.#done += 1;
    this.#total = Math.max(this.#total, this.#done);
    onProgress(this.#done, this.#total);
  }
}

/** Writes `_redirects`. For hosts that ignore this file, also writes a page that redirects, or a copy of a target that is not a page. */
async function writeRedirects(
  redirects: readonly Redirect[],
  paths: ReadonlyMap<string, string>,
  { scope, entries, sink }: WriteSiteOptions,
  writing: Writing,
): Promise<void> {
  const own = redirects.filter(({ url }) => url.startsWith(`${scope.origin}/`));
  const copied = ({ target }: Redirect): ContentEntry | null => {
    const entry = entries.get(target);
    return entry !== undefined && hasContent(entry) && !isPageType(entry.type) ? entry : null;
  };
  const typeOf = (redirect: Redirect): string => copied(redirect)?.type ?? 'text/html';
  const answers = own.map((redirect) => ({ url: redirect.url, type: typeOf(redirect), sha256: redirect.url }));
  const names = assignNames(answers, scope.origin, [...paths.values(), REDIRECTS_PATH]);
  const lines: string[] = [];
  for (const redirect of own) {
    const { url, target, fragment } = redirect;
    const { pathname, search } = new URL(url);
    const path = paths.get(target);
    const destination = path === undefined ? scope.published(target) : `/${encodePath(path)}`;
    const needsRule = search === '' && destination !== pathname && !NO_RULE.test(pathname);
    if (needsRule) lines.push(`${pathname} ${destination}${fragment} 301\n`);
    const name = names.get(url);
    const isOwnName = name === pathOf(naturalName(new URL(url), typeOf(redirect), scope.origin));
    if (name === undefined || (search === '' && !isOwnName) || isSlashAlone(url, target)) continue;
    const entry = copied(redirect);
    if (entry !== null) await writing.write({ entry, path: name }, false);
    else {
      const href = path === undefined ? destination : relativeUrl(name, path);
      await sink.add(name, Buffer.from(redirectPage(href + fragment, scope.published(target) + fragment)));
    }
  }
  const renamed = [...paths].flatMap(([url, path]) => ruleOfRenamed(new URL(url), path, scope) ?? []);
  const text = [...lines.sort(), ...renamed.sort()].join('');
  const rules = text.slice(0, text.lastIndexOf('\n', RULE_FILE_BYTES_MAX - 1) + 1);
  if (rules !== '') await sink.add(REDIRECTS_PATH, Buffer.from(rules));
}

/** Matches paths that a rule cannot name literally: wildcards, placeholders, and characters that a rule rejects. */
const NO_RULE = /\*|\/(?::|%3a)|\/\/|%(?:[01]|2[3af]|3f|5c|7f)/i;

/** Redirect rule for a page whose file cannot have the name in its address: from `/wiki/Help:Start` to `wiki/Help_Start.html`. */
function ruleOfRenamed({ origin, pathname, search }: URL, path: string, scope: Scope): string | null {
  const address = percentDecode(pathname)?.normalize('NFC').slice(1);
  const served = [path, path.replace(/\.x?html?$/i, ''), path.replace(/(?<=^|\/)index\.x?html?$/i, '')];
  if (origin !== scope.origin || search !== '' || !isPage(path) || path === NOT_FOUND_PATH) return null;
  if (address === undefined || served.includes(address) || NO_RULE.test(pathname)) return null;
  return `${pathname} /${encodePath(path)} 301\n`;
}

/** If the root has no page, writes a page that redirects to the start page. Importers require a page at the root. */
async function writeRoot(paths: ReadonlyMap<string, string>, { scope, sink, startUrl }: WriteSiteOptions) {
  const root = `${scope.origin}/`;
  const start = paths.get(scope.canonical(new URL(startUrl)) ?? '');
  if (start === undefined || paths.has(root) || start === 'index.html') return;
  await sink.add('index.html', Buffer.from(redirectPage(relativeUrl('index.html', start), scope.published(startUrl))));
}

type Redirect = { readonly url: string; readonly target: string; readonly fragment: string };

/** Maximum redirects between an address and its final target. Browsers have the same limit. */
const HOPS_MAX = 20;

function findRedirects(entries: ReadonlyMap<string, Entry>, scope: Scope) {
  const redirects = [...entries.values()].flatMap(({ url }): Redirect[] => {
    const end = endOf(url, entries, scope);
    return end !== null && /^https?:/.test(end.target) ? [{ url, ...end }] : [];
  });
  return redirects.sort((a, b) => (a.url < b.url ? -1 : 1));
}

/** Returns the final target of an address that redirects. Null if the address does not redirect, or if its redirects never end. */
export function endOf(url: string, entries: ReadonlyMap<string, Entry>, scope: Scope) {
  let target = url;
  let fragment = '';
  for (let hops = 0; hops <= HOPS_MAX; hops += 1) {
    const location = entries.get(target)?.fetched?.location ?? null;
    if (location === null) return target === url ? null : { target, fragment };
    const next = new URL(location);
    // A redirect without a fragment keeps the fragment of the previous address (RFC 9110, section 10.2.2).
    if (next.hash !== '') fragment = next.hash;
    target = scope.canonical(next) ?? location;
  }
  return null;
}

const isSlashAlone = (url: string, target: string): boolean => url === `${target}/` || target === `${url}/`;

function redirectPage(target: string, canonical: string): string {
  const [href, published] = [escapeHtml(target), escapeHtml(canonical)];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Redirect</title>
<link rel="canonical" href="${published}">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="0; url=${href}">
</head>
<body><p>This page is at <a href="${href}">${href}</a>.</p></body>
</html>
`;
}
