import { join } from 'node:path';
import { readIfThere, replaceFile } from '../../files/index.ts';
import { isPageType } from '../ask/answer-type.ts';
import { type Entry, hasContent } from '../entry.ts';
import type { LivePage } from '../render/index.ts';
import type { ScopeSettings } from '../scope.ts';

/** The pages of a live site by the paths of their files, as the proof of what was written needs them. Plain data. */
export type LivePages = Readonly<Record<string, { readonly url: string; readonly seen: LivePage | null }>>;

const FILE = 'live-pages.json';

/**
 * @param paths file of each address
 * @param seen what pages were seen to be, by address
 */
export function livePagesOf(
  entries: ReadonlyMap<string, Entry>,
  paths: ReadonlyMap<string, string>,
  seen: ReadonlyMap<string, LivePage>,
): LivePages {
  const pages = new Map<string, LivePages[string]>();
  for (const entry of entries.values()) {
    const { url } = entry;
    const path = paths.get(url);
    if (path === undefined || pages.has(path) || !hasContent(entry) || !isPageType(entry.type)) continue;
    pages.set(path, { url, seen: seen.get(url) ?? null });
  }
  return Object.fromEntries(pages);
}

/** @param journalDir of the job: the proof may be another attempt's */
export async function writeLivePages(journalDir: string, scope: ScopeSettings, pages: LivePages): Promise<void> {
  await replaceFile(join(journalDir, FILE), JSON.stringify({ scope, pages }));
}

/** Null where there are none. @throws the system's own errors */
export async function readLivePages(
  journalDir: string,
): Promise<{ readonly scope: ScopeSettings; readonly pages: LivePages } | null> {
  const text = await readIfThere(join(journalDir, FILE));
  return text === null ? null : JSON.parse(text);
}
