import { join } from 'node:path';
import { rethrowAs } from '../../domain/errors.ts';
import { readFileTable } from '../../files/index.ts';
import { serve, yieldToReaders } from '../../threads/index.ts';
import { type ComparedSite, diffPages, type PagesDiff } from './diff-pages.ts';

/** Versions are compared in this thread, because reading 1,000 pages takes seconds. */

export interface DiffRequest {
  readonly before: string;
  readonly after: string;
  readonly listMax: number;
}

const handlers = {
  diff: async ({ before, after, listMax }: DiffRequest): Promise<PagesDiff> => {
    yieldToReaders();
    return diffPages(await open(before), await open(after), undefined, listMax).catch(gone);
  },
};
export type DiffCalls = typeof handlers;

const gone = rethrowAs(
  'cannot_read',
  'compare the versions',
  'Check that both versions are still stored, and that storage.dir is readable.',
);

async function open(releaseDir: string): Promise<ComparedSite> {
  return { siteDir: join(releaseDir, 'site'), files: await readFileTable(releaseDir).catch(gone) };
}

serve(handlers);
