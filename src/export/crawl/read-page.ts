import { readFile } from 'node:fs/promises';
import { htmlCharset } from '../../web/index.ts';
import { type FoundKind, type FoundReferences, findReferences, referencesOf } from '../../web/rewrite/index.ts';
import type { FileStore } from '../file-store.ts';
import type { FoundStore } from './found-store.ts';
import { isNoFollowPage } from './meta-robots.ts';
import type { FoundUrl, ReadOrder, ReadPage } from './page-work.ts';
import { payloadsOf } from './payloads.ts';
import { baseOf, targetOf } from './reference-target.ts';
import type { Scope } from './scope.ts';

/** What a reference of these kinds leads to is no file of its own. */
const NO_FILE: ReadonlySet<FoundKind> = new Set(['prefix', 'canonical', 'base', 'hint', 'integrity']);
const LINKS: ReadonlySet<FoundKind> = new Set(['link', 'frame']);
/** Addresses that a thread remembers having told of. Those of one site repeat from page to page; past it, they are told again. */
const TOLD_MAX = 300_000;

/** Reads files: stores them, finds what they refer to, keeps that, and tells of addresses that are new. */
export class PageReading {
  readonly #store: FileStore;
  readonly #found: FoundStore;
  readonly #scope: Scope;
  #told = new Set<string>();

  constructor(store: FileStore, found: FoundStore, scope: Scope) {
    this.#store = store;
    this.#found = found;
    this.#scope = scope;
  }

  async read({ url, type, charset, content }: ReadOrder): Promise<ReadPage> {
    const isStored = typeof content === 'string';
    const bytes = isStored ? await readFile(this.#store.pathOf(content)) : content;
    const storing = isStored ? Promise.resolve({ sha256: content, size: bytes.length }) : this.#store.put(bytes);
    const isMarkup = type === 'html' || type === 'xml';
    // The header decides where both speak, and a byte order mark over both (HTML standard, "encoding sniffing").
    const own = isMarkup ? htmlCharset(bytes) : null;
    const found = findReferences({
      type,
      bytes,
      charset: hasMark(bytes) ? (own ?? 'utf-8') : (charset ?? own ?? 'utf-8'),
      path: new URL(url).pathname,
    });
    const { urls, withDigest } = this.#newUrls(found, url, isMarkup);
    return {
      ...(await storing),
      place: this.#found.add(found),
      charset: found.charset,
      noFollow: isMarkup && isNoFollowPage(bytes),
      urls,
      withDigest,
      payloads: type === 'html' ? payloadsOf(url, bytes) : [],
    };
  }

  #newUrls(found: FoundReferences, fileUrl: string, isMarkup: boolean) {
    const base = baseOf(found, fileUrl, this.#scope.origin + this.#scope.prefix, isMarkup);
    const urls: FoundUrl[] = [];
    const withDigest: string[] = [];
    for (const reference of referencesOf(found)) {
      const { kind } = reference;
      if (NO_FILE.has(kind) && kind !== 'integrity') continue;
      const target = targetOf(reference, base);
      const url = target === null ? null : this.#scope.canonical(target);
      if (url === null) continue;
      if (kind === 'integrity') withDigest.push(url);
      else if (this.#isNew(`${LINKS.has(kind) ? 'link' : 'file'} ${url}`)) urls.push({ kind, url });
    }
    return { urls, withDigest };
  }

  #isNew(key: string): boolean {
    if (this.#told.has(key)) return false;
    if (this.#told.size >= TOLD_MAX) this.#told = new Set();
    this.#told.add(key);
    return true;
  }
}

function hasMark([first, second, third]: Uint8Array): boolean {
  return (
    (first === 0xef && second === 0xbb && third === 0xbf) ||
    (first === 0xfe && second === 0xff) ||
    (first === 0xff && second === 0xfe)
  );
}
