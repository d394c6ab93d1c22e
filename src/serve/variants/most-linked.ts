import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type FileTable, isPage } from '../../domain/release.ts';
import { percentDecode } from '../../web/percent-decode.ts';
import { encodeSegments } from '../../web/percent-encode.ts';
import { findLinks } from '../../web/references.ts';
import { resolvePath } from '../../web/resolve.ts';

/** Read for their links: what most pages lead to stands in any of them. At 100 MB/s a matter of seconds. */
const READ_PAGES = 5_000;
const READ_BYTES_MAX = 4 * 1024 ** 2;
const ORIGIN = 'http://site.invalid';

/** Paths of the `max` pages that most others lead to. */
export async function mostLinked(
  files: FileTable,
  { releaseDir, builtFor }: { readonly releaseDir: string; readonly builtFor: string },
  max: number,
): Promise<ReadonlySet<string>> {
  const counts = new Map<string, number>();
  const sizes: number[] = [];
  for (const { path, size } of files.values()) {
    if (!isPage(path)) continue;
    counts.set(path, 0);
    sizes.push(size);
  }
  if (counts.size <= max) return new Set(counts.keys());
  const every = Math.ceil(counts.size / READ_PAGES);
  let at = -1;
  for (const path of counts.keys()) {
    at += 1;
    if (at % every !== 0 || (sizes[at] ?? 0) > READ_BYTES_MAX) continue;
    await setImmediate();
    const html = pageAt(join(releaseDir, 'site', path));
    for (const target of targetsOf(html, path, builtFor, files)) counts.set(target, (counts.get(target) ?? 0) + 1);
  }
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, max);
  return new Set(most.map(([path]) => path));
}

/** Empty where it cannot be read. */
function pageAt(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Other pages of the site, each once. */
function targetsOf(html: string, path: string, builtFor: string, files: FileTable): Set<string> {
  const targets = new Set<string>();
  const own = `${ORIGIN}${builtFor}${encodeSegments(path)}`;
  const { base, references } = findLinks(html);
  const from = (base === null ? null : URL.parse(base, own)?.href) ?? own;
  for (const { kind, url } of references) {
    const target = kind === 'link' ? URL.parse(url, from) : null;
    if (target?.origin !== ORIGIN || !target.pathname.startsWith(builtFor)) continue;
    const asked = percentDecode(target.pathname.slice(builtFor.length));
    const found = asked === null ? null : resolvePath(files, asked, 'never');
    if (found?.kind === 'file' && found.path !== path && isPage(found.path)) targets.add(found.path);
  }
  return targets;
}
