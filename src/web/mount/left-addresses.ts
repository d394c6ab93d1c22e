import { sourceText } from '../rewrite/source-text.ts';
import { leadsIntoSite, type MountedSite } from './edits.ts';
import { isCovered } from './generators.ts';
import { mountFile } from './index.ts';
import { isMountable, kindOf, MOUNT_BYTES_MAX, type MountableFile } from './mountable.ts';
import { inlineScripts } from './script-literals.ts';

/** A whole string that begins like an address from the root. */
const LITERAL = /(?<=\\?(?<quote>["'`]))(?<url>\/[\w.~%@+-][^"'`\\\s<>]{0,300})/g;
const ADDRESSES_MAX = 1_000;

/**
 * Addresses of a site's scripts and data that still have the former base path when the file is mounted, distinct and as they
 * are written: strings that lead to a file or a page, but for those that a generator in the table completes by itself. Whether a script uses them is not known.
 */
export function leftAddresses(file: MountableFile, site: MountedSite): string[] {
  const kind = kindOf(file.path, file.type);
  if (kind !== 'html' && kind !== 'script' && kind !== 'data') return [];
  const mounted = sourceText(mountFile(file, site), () => 'utf-8').units;
  const texts = kind === 'html' ? inlineScripts(mounted) : [mounted];
  const left = new Set<string>();
  for (const text of texts) {
    if (isCovered(text)) continue;
    for (const { groups } of text.matchAll(LITERAL)) {
      const url = groups?.url ?? '';
      const isMounted = site.to.startsWith(site.from) && url.startsWith(site.to);
      if (!isMounted && leadsIntoSite(url, site) && left.size < ADDRESSES_MAX) left.add(url);
    }
  }
  return [...left];
}

/** True for data that scripts may load, which stay as they are. */
export function isData(path: string, size: number): boolean {
  return path.endsWith('.json') && size <= MOUNT_BYTES_MAX;
}

/** True for a file that is read for addresses and is too large for it. */
export function isTooLargeToMount({ path, type }: Omit<MountableFile, 'bytes'>, size: number): boolean {
  return size > MOUNT_BYTES_MAX && isMountable(path, type, 0);
}
