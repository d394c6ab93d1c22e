import type { IndexFile } from './index-file.ts';
import { languageKey } from './write/lists.ts';

export interface Filter {
  readonly version?: string;
  /** With `version`: sections that say no version of themselves may be found too. Default false. */
  readonly orUnsaid?: boolean;
  /** BCP 47 in any case; `pt` also finds `pt-BR`. */
  readonly language?: string;
  readonly tag?: string;
}

/** One byte a section: 1 where it may be found, else 0. Null where all may. */
export type Mask = Uint8Array | null;

export function maskOf(filter: Filter, file: IndexFile): Mask {
  let mask: Mask = null;
  if (filter.version !== undefined) {
    const unsaid = filter.orUnsaid === true ? file.list('unsaid', 'version') : [];
    mask = only([...file.list('version', filter.version), ...unsaid], mask, file.sections);
  }
  if (filter.language !== undefined) mask = only(file.language(languageKey(filter.language)), mask, file.sections);
  if (filter.tag !== undefined) mask = only(file.list('tag', filter.tag), mask, file.sections);
  return mask;
}

export function only(found: Iterable<number>, mask: Mask, sections: number): Uint8Array {
  const both = new Uint8Array(sections);
  for (const section of found) both[section] = mask === null ? 1 : (mask[section] ?? 0);
  return both;
}

export function without(found: Iterable<number>, mask: Mask, sections: number): Uint8Array {
  const rest = mask === null ? new Uint8Array(sections).fill(1) : mask.slice();
  for (const section of found) rest[section] = 0;
  return rest;
}
