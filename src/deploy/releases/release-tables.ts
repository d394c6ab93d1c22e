import { dirname } from 'node:path';
import { rethrowAs } from '../../domain/errors.ts';
import type { KeptRelease } from '../../domain/release.ts';
import { findInTable, readFileTable } from '../../files/index.ts';

type KeptFacts = Omit<KeptRelease, 'find' | 'readTable'>;

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
