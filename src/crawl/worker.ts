import { workerData } from 'node:worker_threads';
import { FileStore } from '../files/file-store.ts';
import { HandedOver, serve } from '../threads/index.ts';
import type { FetchedContent } from './entry.ts';
import { ContentPacks, FoundStore, PageContents } from './kept/content-packs.ts';
import {
  PageReading,
  type PageThreadData,
  PageWriting,
  type PublishedOrder,
  publishedHost,
  type ReadOrder,
  type SiteNames,
  type WriteOrder,
} from './pages/page-work.ts';
import { ReferenceTargets } from './pages/reference-target.ts';
import { Scope, type ScopeSettings } from './scope.ts';

/** Scope comes before all but `publishedHost`, and names before anything is written. */

const { filesDir, foundDir, packFolders, attempt, thread, givesPages } = workerData as PageThreadData;
const packs = new ContentPacks(packFolders, `${attempt}-${thread}.pack`);
const contents = new PageContents(new FileStore(filesDir), packs, givesPages);
const found = new FoundStore(foundDir, thread);

interface Work {
  readonly reading: PageReading;
  readonly writing: PageWriting;
}

const state: { work: Work | null } = { work: null };

function work(): Work {
  if (state.work === null) throw new Error('no scope was given');
  return state.work;
}

function bytesOf(content: Uint8Array | FetchedContent): Uint8Array {
  return content instanceof Uint8Array ? content : contents.read(content);
}

const handlers = {
  publishedHost: ({ url, content }: PublishedOrder) => publishedHost(url, bytesOf(content)),
  useScope: (settings: ScopeSettings) => {
    const scope = new Scope(settings);
    const targets = new ReferenceTargets(scope);
    const reading = new PageReading(contents, found, scope, targets);
    state.work = { reading, writing: new PageWriting(contents, found, scope, targets) };
  },
  read: (order: ReadOrder) => work().reading.read(order),
  write: (order: WriteOrder) => new HandedOver(work().writing.write(order), contents.takeGiven()),
  useNames: (names: SiteNames) => work().writing.useNames(names),
  useDigests: (digests: ReadonlyMap<string, string>) => work().writing.useDigests(digests),
};
export type PageCalls = typeof handlers;

/** Waking the caller costs as much as reading a small page. */
serve(handlers, { answersAtOnce: 4 });
