import { readFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { FileStore } from '../files/file-store.ts';
import { serve } from '../threads/index.ts';
import {
  type PageThreadData,
  PageWork,
  publishedHost,
  type ReadRequest,
  type SiteNames,
  type StartPage,
  type WriteRequest,
} from './pages/page-work.ts';
import { Scope, type ScopeSettings } from './scope.ts';

/** The parent thread must call `useScope` before all other functions except `publishedHost`, and `useNames` before `write`. */

const { filesDir } = workerData as PageThreadData;
const store = new FileStore(filesDir);
const state: { work: PageWork | null } = { work: null };

function work(): PageWork {
  if (state.work === null) throw new Error('no scope was given');
  return state.work;
}

const handlers = {
  publishedHost: ({ url, content }: StartPage) =>
    publishedHost(url, content instanceof Uint8Array ? content : readFileSync(store.pathOf(content.sha256))),
  useScope: (settings: ScopeSettings) => {
    state.work = new PageWork(store, new Scope(settings));
  },
  read: (request: ReadRequest) => work().read(request),
  write: (request: WriteRequest) => work().write(request),
  useNames: (names: SiteNames) => work().useNames(names),
  useDigests: (digests: ReadonlyMap<string, string>) => work().useDigests(digests),
};
export type PageCalls = typeof handlers;

/** Send up to four responses together, because waking the caller costs as much as reading a small page. */
serve(handlers, { answersAtOnce: 4 });
