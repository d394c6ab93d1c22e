import { hash } from 'node:crypto';
import {
  type FoundKind,
  type FoundReferences,
  findReferences,
  referencesOf,
  utf8Bytes,
} from '../../web/rewrite/index.ts';
import { namesPage } from '../ask/answer-type.ts';
import { saysNoFollow } from '../robots.ts';
import type { Scope } from '../scope.ts';
import type { FoundStore, PageContents } from './page-content.ts';
import type { FoundUrl, ReadOrder, ReadPage } from './page-work.ts';
import { baseOf, type ReferenceTarget, type ReferenceTargets } from './reference-target.ts';

const NO_FILE: ReadonlySet<FoundKind> = new Set([
  'prefix',
  'canonical',
  'base',
  'hint',
  'integrity',
  'scope',
  'pattern',
]);

export class PageReading {
  readonly #contents: PageContents;
  readonly #found: FoundStore;
  readonly #scope: Scope;
  readonly #targets: ReferenceTargets;

  constructor(contents: PageContents, found: FoundStore, scope: Scope, targets: ReferenceTargets) {
    this.#contents = contents;
    this.#found = found;
    this.#scope = scope;
    this.#targets = targets;
  }

  read({ url, type, charset, content }: ReadOrder): ReadPage {
    const given = content instanceof Uint8Array ? content : this.#contents.read(content);
    const bytes = utf8Bytes(given, type, charset);
    const kept =
      content instanceof Uint8Array || bytes !== given
        ? { sha256: hash('sha256', bytes), size: bytes.length, packed: this.#contents.pack(bytes) }
        : content;
    const { origin, pathname } = new URL(url);
    const found = findReferences({ type, bytes, path: pathname });
    const isMarkup = type === 'html' || type === 'xml';
    const { urls, withDigest } = this.#newUrls(found, url, isMarkup);
    return {
      content: kept,
      place: this.#found.add(found),
      noFollow: found.robots.some(saysNoFollow),
      urls,
      withDigest,
      payloads: found.payloads.map((path) => origin + path),
    };
  }

  #newUrls(found: FoundReferences, fileUrl: string, isMarkup: boolean) {
    const base = baseOf(found, fileUrl, this.#scope.origin + this.#scope.prefix, isMarkup);
    const urls: FoundUrl[] = [];
    const withDigest: string[] = [];
    for (const reference of referencesOf(found)) {
      const { kind } = reference;
      if (NO_FILE.has(kind) && kind !== 'integrity') continue;
      const target = this.#targets.of(reference, base);
      if (target === null) continue;
      if (kind === 'integrity') withDigest.push(target.canonical);
      else if (isNew(target, namesPage(kind))) urls.push({ kind, url: target.canonical });
    }
    return { urls, withDigest };
  }
}

function isNew(target: ReferenceTarget, isLink: boolean): boolean {
  if (isLink ? target.isToldAsLink : target.isToldAsFile) return false;
  if (isLink) target.isToldAsLink = true;
  else target.isToldAsFile = true;
  return true;
}

/** Null unless the canonical address has the page's own path and another host. */
export function publishedHost(url: string, bytes: Uint8Array): string | null {
  const found = findReferences({ type: 'html', bytes: utf8Bytes(bytes, 'html', null) });
  for (const { kind, url: written } of referencesOf(found)) {
    if (kind !== 'canonical') continue;
    const [own, canonical] = [new URL(url), URL.parse(written, url)];
    if (canonical === null || !/^https?:$/.test(canonical.protocol) || canonical.host === own.host) return null;
    return plainPath(canonical) === plainPath(own) ? canonical.host : null;
  }
  return null;
}

function plainPath({ pathname }: URL): string {
  return pathname.replace(/\.html?$/i, '').replace(/\/(?:index)?$/i, '');
}
