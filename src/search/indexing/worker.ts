import { workerData } from 'node:worker_threads';
import { serve } from '../../threads/index.ts';
import { type PagesFrom, type PageToRead, readPage } from './read-page.ts';

const from = workerData as PagesFrom;
const handlers = { read: (page: PageToRead) => readPage(from, page) };
export type ReadCalls = typeof handlers;

// Send results in groups of half of `PAGES_AHEAD`, so that this thread reads pages while the parent thread processes a group.
serve(handlers, { answersAtOnce: 8 });
