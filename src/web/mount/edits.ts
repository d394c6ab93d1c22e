import { percentDecode } from '../escape.ts';
import { decodeUnits } from '../rewrite/source-text.ts';
import { type Edit, writtenUrl } from '../rewrite/write.ts';
import { type Mount, rebase } from './base-path.ts';

export interface MountedSite extends Mount {
  has(path: string): boolean;
}

/** File to edit. `text` has one UTF-16 code unit per byte of the file, so that offsets in the text are byte offsets. */
export type MountSource = { readonly text: string; readonly site: MountedSite };

/**
 * Replaces the base path of an address, and keeps the other bytes of the address if possible.
 * @param url decoded address
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

/**
 * Finds the end of the base path at `start` in the text. A slash may be written as `\/`. Null if the text encodes the base
 * path in another way.
 */
function endOfStart(text: string, start: number, from: string): number | null {
  let at = start;
  for (const character of from) {
    if (character === '/' && text[at] === '\\') at += 1;
    if (text[at] !== character) return null;
    at += 1;
  }
  return at;
}

/**
 * Replaces the base path of each address that `pattern` matches.
 * @param pattern regular expression with the flags `dg` and a group `url`, which must not match escapes
 */
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

export function leadsIntoSite(url: string, { from, has }: MountedSite): boolean {
  if (!url.startsWith(from)) return false;
  const path = url.slice(from.length).replace(/[?#].*$/s, '');
  return has(path.includes('%') ? (percentDecode(path) ?? '') : decodeUnits(path));
}

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
