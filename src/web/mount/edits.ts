import { percentDecode } from '../escape.ts';
import { decodeUnits } from '../rewrite/source-text.ts';
import { type Edit, writtenUrl } from '../rewrite/write.ts';
import { type Mount, rebase } from './base-path.ts';

/** A site at another base path than it was built for. */
export interface MountedSite extends Mount {
  /** True for a path (decoded, no leading slash) that is a file or a page of the site. */
  has(path: string): boolean;
}

/** What a row of the table reads: a text of units (`source-text.ts`). */
export interface MountSource {
  readonly text: string;
  readonly site: MountedSite;
}

/**
 * The new address of one that stands in the text, or null if it stays. Its start alone is replaced where it is written
 * plainly, so that the rest keeps its spelling.
 *
 * @param url decoded
 * @param writing flags of `write.ts`
 */
export function rebaseAt(
  text: string,
  start: number,
  end: number,
  url: string,
  writing: number,
  mount: Mount,
): Edit | null {
  const { from, to } = mount;
  const rebased = rebase(url, mount);
  if (rebased === null) return null;
  const written = url.startsWith(from) ? endOfStart(text, start, from) : null;
  if (written !== null && written <= end) return { start, end: written, text: to };
  return { start, end, text: writtenUrl(rebased, writing) };
}

/** End of `from` in the text, whose slashes JSON and scripts may write as `\/`; null: it is written in another way. */
function endOfStart(text: string, start: number, from: string): number | null {
  let at = start;
  for (const character of from) {
    if (character === '/' && text[at] === '\\') at += 1;
    if (text[at] !== character) return null;
    at += 1;
  }
  return at;
}

/** Every match whose group `url` (without escapes) is below `from`. The pattern has the flags `dg`. */
export function* rebaseMatches(
  pattern: RegExp,
  { text, site }: MountSource,
  isWanted = (_url: string) => true,
): Generator<Edit> {
  for (const match of text.matchAll(pattern)) {
    const url = match.groups?.url;
    const [start, end] = match.indices?.groups?.url ?? [0, 0];
    if (url === undefined || !isWanted(url)) continue;
    const edit = rebaseAt(text, start, end, url, 0, site);
    if (edit !== null) yield edit;
  }
}

/** True for an address, as a bundle built for `from` has it, that names a file or a page. */
export function leadsIntoSite(url: string, { from, has }: MountedSite): boolean {
  if (!url.startsWith(from)) return false;
  const path = url.slice(from.length).replace(/[?#].*$/s, '');
  return has(path.includes('%') ? (percentDecode(path) ?? '') : decodeUnits(path));
}

/** In their order; of two that overlap the first. */
export function withoutOverlaps(edits: readonly Edit[]): Edit[] {
  let end = 0;
  return edits
    .toSorted((a, b) => a.start - b.start || b.end - a.end)
    .filter((edit) => {
      if (edit.start < end) return false;
      end = edit.end;
      return true;
    });
}
