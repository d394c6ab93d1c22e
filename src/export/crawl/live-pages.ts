import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../domain/errors.ts';
import { replaceFile } from '../../files/index.ts';
import type { LivePage } from '../render/index.ts';
import { isPageType } from './answer-type.ts';
import { type Entry, hasContent } from './entry.ts';
import type { ScopeSettings } from './scope.ts';

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
  try {
    return JSON.parse(await readFile(join(journalDir, FILE), 'utf8'));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}
