import { escapeHtml } from '../../web/escape.ts';
import type { Entry } from '../entry.ts';

export interface Redirect {
  readonly url: string;
  /** The last one's: canonical where the crawl has it, else absolute. */
  readonly target: string;
  /** With its `#`, or empty. */
  readonly fragment: string;
}

/** Browsers follow 20. */
const HOPS_MAX = 20;

/** In the order of addresses, without circles. */
export function findRedirects(
  entries: ReadonlyMap<string, Entry>,
  canonical: (url: URL) => string | null,
): readonly Redirect[] {
  const redirects: Redirect[] = [];
  for (const { url } of entries.values()) {
    const end = endOf(url, entries, canonical);
    if (end !== null) redirects.push({ url, ...end });
  }
  return redirects.sort((a, b) => (a.url < b.url ? -1 : 1));
}

function endOf(
  url: string,
  entries: ReadonlyMap<string, Entry>,
  canonical: (url: URL) => string | null,
): Pick<Redirect, 'target' | 'fragment'> | null {
  let target = url;
  let fragment = '';
  for (let hops = 0; hops <= HOPS_MAX; hops += 1) {
    const location = entries.get(target)?.fetched?.location ?? null;
    if (location === null) return target === url ? null : { target, fragment };
    const next = new URL(location);
    // A later redirect without a fragment of its own keeps the earlier one (RFC 9110, section 10.2.2).
    if (next.hash !== '') fragment = next.hash;
    target = canonical(next) ?? location;
  }
  return null;
}

/** Every static host makes these redirects by itself. */
export function isSlashAlone(url: string, target: string): boolean {
  return url === `${target}/` || target === `${url}/`;
}

export function redirectPage(target: string, canonical: string): string {
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
