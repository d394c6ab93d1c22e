import { dirname } from 'node:path';
import { rethrowAs } from '../../domain/errors.ts';
import type { KeptRelease, ReleaseView } from '../../domain/release.ts';
import { findInTable, readFileTable } from '../../files/index.ts';

/** A release without its table: plain data, for another process. */
export type ReleaseFacts = Omit<ReleaseView, 'files'>;
export type KeptFacts = Omit<KeptRelease, 'find' | 'readTable'>;

/** Its table stays on disk. */
export function withTable(facts: KeptFacts): KeptRelease {
  const folder = dirname(facts.siteDir);
  const unreadable = rethrowAs('cannot_read', `read the file table of release ${facts.digest.slice(0, 12)}`);
  return {
    ...facts,
    find: (path) => findInTable(folder, path).catch(unreadable),
    readTable: () => readFileTable(folder).catch(unreadable),
  };
}

/** With its table in memory. @throws DocshelfError `release_damaged`; the system's own errors */
export async function readView(facts: ReleaseFacts): Promise<ReleaseView> {
  return { ...facts, files: await readFileTable(dirname(facts.siteDir)) };
}
