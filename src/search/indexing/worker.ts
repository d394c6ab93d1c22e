import { workerData } from 'node:worker_threads';
import { serve } from '../../threads/index.ts';
import { type PagesFrom, type PageToRead, readPage } from './read-page.ts';

const from = workerData as PagesFrom;
const handlers = { read: (page: PageToRead) => readPage(from, page) };
export type ReadCalls = typeof handlers;

// Half of what it has before it: it reads the other half while this goes.
serve(handlers, { answersAtOnce: 8 });
