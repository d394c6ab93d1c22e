import { workerData } from 'node:worker_threads';
import { serve } from '../../threads/index.ts';
import { type PagesFrom, type PageToRead, readPage } from './read-page.ts';

const from = workerData as PagesFrom;
const handlers = { read: (page: PageToRead) => readPage(from, page) };
export type ReadCalls = typeof handlers;

// Half of PAGES_AHEAD, so that the parent thread processes one group of results while this thread reads the next group.
serve(handlers, { answersAtOnce: 8 });
