import { parentPort, workerData } from 'node:worker_threads';
import { type PlainError, toDocshelfError } from '../../domain/errors.ts';
import { FileStore } from '../file-store.ts';
import { FoundStore } from './found-store.ts';
import type { PageOrder, PageThreadData } from './page-work.ts';
import { PageReading } from './read-page.ts';
import { Scope } from './scope.ts';
import { PageWriting } from './write-page.ts';

/** A thread that reads and writes pages, as the crawl tells it. */
export type PageAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: PlainError };

const data = workerData as PageThreadData;
const store = new FileStore(data.filesDir);
const found = new FoundStore(data.foundDir, data.thread);
const scope = new Scope(data.scope);
const reading = new PageReading(store, found, scope);
const writing = new PageWriting(store, found, scope);

async function run(order: PageOrder): Promise<unknown> {
  switch (order.act) {
    case 'read':
      return reading.read(order);
    case 'write':
      return writing.write(order);
    case 'names':
      return writing.useNames(order);
    case 'digests':
      return writing.useDigests(order.digests);
  }
}

const answer = (message: PageAnswer): void => parentPort?.postMessage(message);

parentPort?.on('message', (order: PageOrder) => {
  run(order).then(
    (result) => answer({ id: order.id, result }),
    (error: unknown) => answer({ id: order.id, error: toDocshelfError(error).toPlain() }),
  );
});
