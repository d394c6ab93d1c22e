import type { Finding } from '../../domain/job.ts';
import { showName } from '../../domain/show-name.ts';
import type { Reference } from '../../web/index.ts';
import type { CheckedPage, CheckedPages } from './checked-pages.ts';
import type { ServedSite } from './served-site.ts';

/** What of a fragment is a directive to the browser and names no anchor: `#:~:text=…` (WICG, URL Fragment Text Directives). */
const DIRECTIVE = ':~:';

/** What is wrong with a page's references, in their order. */
export function* findFaults(page: CheckedPage, site: ServedSite, pages: CheckedPages): Generator<Finding> {
  const base = site.baseOf(page.path, page.base);
  for (const reference of page.references) {
    // A canonical names where the page is published, and leads nowhere.
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

/** Whether a fragment leads somewhere on a page (HTML standard, "select the indicated part"); true for what is no page. */
function hasAnchor(pages: CheckedPages, path: string, fragment: string): boolean {
  const [name = ''] = fragment.split(DIRECTIVE);
  if (name === '' || pages.hasAnchor(path, name) !== false) return true;
  const decoded = decodeLeniently(name);
  return decoded.toLowerCase() === 'top' || pages.hasAnchor(path, decoded) === true;
}

function decodeLeniently(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function finding(kind: string, { path }: CheckedPage, { tag, attribute, url }: Reference, more = ''): Finding {
  return { kind, page: path, detail: `${tag} ${attribute}="${showName(url)}"${more}` };
}
