import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Token, Tokenizer } from 'parse5';
import { pageText } from '../web/media-type.ts';
import { filesOfGenerators, isGeneratorFile } from '../web/rewrite/generators/index.ts';
import type { AskedAs, ContentEntry } from './entry.ts';
import type { Scope } from './scope.ts';

type ListedUrl = { readonly url: string; readonly askedAs: AskedAs };

export function isList({ url, askedAs }: Pick<ContentEntry, 'url' | 'askedAs'>): boolean {
  if (askedAs === 'sitemap' || askedAs === 'llms') return true;
  const { pathname } = new URL(url);
  return isSitemapPath(pathname) || isGeneratorFile(pathname);
}

export async function urlsListedIn(entry: ContentEntry, file: string, scope: Scope): Promise<ListedUrl[]> {
  const { url, askedAs, fetched } = entry;
  if (fetched.content.size > SITEMAP_BYTES_MAX || !scope.isOwn(new URL(url))) return [];
  const bytes = await unpacked(await readFile(file));
  const own = (links: readonly string[], as: AskedAs): ListedUrl[] =>
    links.flatMap((link) => {
      const target = URL.parse(link, url);
      const canonical = target === null || !scope.isOwn(target) ? null : scope.canonical(target);
      return canonical === null ? [] : [{ url: canonical, askedAs: as }];
    });
  if (askedAs === 'llms') return own(llmsLinks(bytes.toString('utf8')), 'link');
  const { pathname } = new URL(url);
  if (isGeneratorFile(pathname)) {
    const source = { text: bytes.toString('latin1'), path: pathname, named: [] };
    return own(filesOfGenerators('file', source), 'known_file');
  }
  const { pages, sitemaps } = readSitemap(pageText(bytes, ''));
  return [...own(sitemaps, 'sitemap'), ...own(pages, 'link')];
}

async function unpacked(bytes: Buffer): Promise<Buffer> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  return promisify(gunzip)(bytes, { maxOutputLength: SITEMAP_BYTES_MAX }).catch(() => Buffer.alloc(0));
}

/** Maximum bytes of a sitemap. sitemaps.org allows 50 MB and 50,000 addresses. */
export const SITEMAP_BYTES_MAX = 50 * 1024 ** 2;
const ADDRESSES_MAX = 50_000;
const NAME = /\/sitemap[^/]*\.xml(?:\.gz)?$/i;

export const isSitemapPath = (pathname: string): boolean => NAME.test(pathname);

export function readSitemap(text: string): Pick<SitemapReader, 'pages' | 'sitemaps'> {
  const start = text.trimStart();
  if (!start.startsWith('<')) {
    const lines = start.split(/\s+/).filter((line) => /^https?:\/\//i.test(line));
    return { pages: lines.slice(0, ADDRESSES_MAX), sitemaps: [] };
  }
  const reader = new SitemapReader();
  reader.read(text);
  return reader;
}

class SitemapReader {
  readonly pages: string[] = [];
  readonly sitemaps: string[] = [];
  readonly #tokenizer = new Tokenizer({}, this);
  #isInSitemap = false;
  #isInItem = false;
  #text: string | null = null;

  read(xml: string): void {
    // Make the HTML tokenizer accept the CDATA sections of XML, which are not allowed in HTML.
    this.#tokenizer.inForeignNode = true;
    this.#tokenizer.write(xml, true);
  }

  onStartTag({ tagName, attrs }: Token.TagToken): void {
    if (tagName === 'sitemap') this.#isInSitemap = true;
    if (tagName === 'item' || tagName === 'entry') this.#isInItem = true;
    const isFeedLink = this.#isInItem && tagName === 'link';
    // Collect the text of `loc` (not of `image:loc`, which is no page) and of RSS links, which contain the address as text.
    this.#text = tagName === 'loc' || isFeedLink ? '' : null;
    // Read `href` of links to other languages (Google's extension) and of Atom links.
    if (tagName !== 'xhtml:link' && !isFeedLink) return;
    const attribute = (wanted: string): string | undefined => attrs.find(({ name }) => name === wanted)?.value;
    const href = (attribute('rel') ?? 'alternate') === 'alternate' ? attribute('href') : undefined;
    if (href !== undefined && this.pages.length < ADDRESSES_MAX) this.pages.push(href);
  }

  onEndTag({ tagName }: Token.TagToken): void {
    if (tagName === 'sitemap') this.#isInSitemap = false;
    if (tagName === 'item' || tagName === 'entry') this.#isInItem = false;
    if ((tagName !== 'loc' && tagName !== 'link') || this.#text === null || this.#text.trim() === '') return;
    const list = this.#isInSitemap ? this.sitemaps : this.pages;
    if (list.length < ADDRESSES_MAX) list.push(this.#text.trim());
    this.#text = null;
  }

  onCharacter({ chars }: Token.CharacterToken): void {
    if (this.#text !== null) this.#text += chars;
  }

  onWhitespaceCharacter(token: Token.CharacterToken): void {
    this.onCharacter(token);
  }

  onNullCharacter(): void {}
  onComment(): void {}
  onDoctype(): void {}
  onEof(): void {}
}

const LINKS_MAX = 50_000;
const LINK = /\]\(\s*<?([^\s<>()]+(?:\([^\s<>()]*\)[^\s<>()]*)*)>?(?:\s+"[^"]*")?\s*\)/g;

/** Addresses of links in llms.txt (llmstxt.org). */
export function llmsLinks(markdown: string): string[] {
  const links = markdown.matchAll(LINK).map(([, url = '']) => url);
  return [...links.take(LINKS_MAX)];
}
