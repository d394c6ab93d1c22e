import type { Finding } from '../../domain/job.ts';
import { isPage } from '../../domain/release.ts';
import { percentDecode } from '../../web/escape.ts';
import { resolvePath } from '../../web/resolve.ts';
import type { FoundFile } from './walk-folder.ts';

interface SelectedPages {
  readonly pages: number;
  readonly files: readonly FoundFile[];
  readonly findings: readonly Finding[];
}

const NOT_FOUND_PAGE = /(?:^|\/)404(?:\/index)?\.x?html?$/i;

const OWN_ORIGIN = 'http://site.invalid';

/** By `/guides/start`, `guides/start.html`, `/guides/`. Other files stay (scripts ask for them), as do 404 pages. */
export function selectPages(files: readonly FoundFile[], paths: readonly string[]): SelectedPages {
  const table = new Set(files.map(({ path }) => path));
  const wanted = new Set<string>();
  const findings: Finding[] = [];
  for (const path of paths) {
    const file = fileAt(table, path);
    if (file !== null && isPage(file)) wanted.add(file);
    else if (file === null)
      findings.push({ kind: 'path_not_found', page: path, detail: 'no page of the site answers this path' });
  }
  const selected = files.filter(({ path }) => !isPage(path) || wanted.has(path) || NOT_FOUND_PAGE.test(path));
  return { pages: wanted.size, files: selected, findings };
}

function fileAt(table: ReadonlySet<string>, path: string): string | null {
  const address = decodedPath(path);
  if (address === null) return null;
  const found = resolvePath(table, address, 'never');
  if (found.kind === 'file') return found.path;
  if (found.kind === 'missing') return null;
  // `/a/` where only `a.html` is: readers are sent to `/a`.
  const redirected = resolvePath(table, address.replace(/\/$/, ''), 'never');
  return redirected.kind === 'file' ? redirected.path : null;
}

function decodedPath(path: string): string | null {
  const url = URL.parse(path.startsWith('/') ? path : `/${path}`, OWN_ORIGIN);
  return url === null || url.origin !== OWN_ORIGIN ? null : (percentDecode(url.pathname)?.slice(1) ?? null);
}
