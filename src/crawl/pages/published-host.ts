import { findReferences, referencesOf } from '../../web/rewrite/index.ts';

/** The host of a page's canonical address, where that has the page's own path; null where it says nothing else than we know. */
export function publishedHost(url: string, bytes: Uint8Array): string | null {
  const found = findReferences({ type: 'html', bytes, charset: null });
  for (const { kind, url: written } of referencesOf(found)) {
    if (kind !== 'canonical') continue;
    const [own, canonical] = [new URL(url), URL.parse(written, url)];
    if (canonical === null || !/^https?:$/.test(canonical.protocol) || canonical.host === own.host) return null;
    return plainPath(canonical) === plainPath(own) ? canonical.host : null;
  }
  return null;
}

/** `/a` for `/a`, `/a/`, `/a.html` and `/a/index.html`. */
function plainPath({ pathname }: URL): string {
  return pathname.replace(/\.html?$/i, '').replace(/\/(?:index)?$/i, '');
}
