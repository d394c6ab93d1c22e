import { workerData } from 'node:worker_threads';
import { FileStore } from '../files/file-store.ts';
import { serve } from '../threads/index.ts';
import {
  type PageThreadData,
  PageWork,
  type ReadRequest,
  type SiteNames,
  type WriteRequest,
} from './pages/page-work.ts';
import { Scope } from './scope.ts';

const { filesDir, scope } = workerData as PageThreadData;
const work = new PageWork(new FileStore(filesDir), new Scope(scope));

/** The parent thread must call `useNames` before `write`. */
const handlers = {
  read: (request: ReadRequest) => work.read(request),
  write: (request: WriteRequest) => work.write(request),
  useNames: (names: SiteNames) => work.useNames(names),
  useDigests: (digests: ReadonlyMap<string, string>) => work.useDigests(digests),
};
export type PageCalls = typeof handlers;

serve(handlers);
