import { parentPort, workerData } from 'node:worker_threads';
import { toDocshelfError } from '../domain/errors.ts';
import { FileStore } from '../files/file-store.ts';
import type { CallOutcome } from '../threads/call-outcome.ts';
import type { FetchedContent } from './ask/fetched-url.ts';
import { ContentPacks } from './kept/content-packs.ts';
import { FoundStore } from './pages/found-store.ts';
import { PageContent } from './pages/page-content.ts';
import type { PageOrder, PageThreadData } from './pages/page-work.ts';
import { publishedHost } from './pages/published-host.ts';
import { PageReading } from './pages/read-page.ts';
import { Targets } from './pages/reference-target.ts';
import { PageWriting } from './pages/write-page.ts';
import { Scope } from './scope.ts';

/** A thread that reads and writes pages, as the crawl tells it: arrays of `PageOrder` come in, and of `CallOutcome` go out. */

const { filesDir, foundDir, packFolders, attempt, thread, givesPages } = workerData as PageThreadData;
const packs = new ContentPacks(packFolders, `${attempt}-${thread}.pack`);
const contents = new PageContent(new FileStore(filesDir), packs, givesPages);
const found = new FoundStore(foundDir, thread);

interface Work {
  readonly reading: PageReading;
  readonly writing: PageWriting;
}

function workOn(scope: Scope): Work {
  const targets = new Targets(scope);
  return {
    reading: new PageReading(contents, found, scope, targets),
    writing: new PageWriting(contents, found, scope, targets),
  };
}

function bytesOf(content: Uint8Array | FetchedContent): Uint8Array {
  return content instanceof Uint8Array ? content : contents.read(content);
}

/** What is done depends on what was said before. */
class PageThread {
  #work: Work | null = null;

  do(order: PageOrder): unknown {
    if (order.act === 'scope') {
      this.#work = workOn(new Scope(order.scope));
      return null;
    }
    if (order.act === 'published') return publishedHost(order.url, bytesOf(order.content));
    if (this.#work === null) throw new Error('no scope was given');
    const { reading, writing } = this.#work;
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
}

const work = new PageThread();

function answerTo(order: PageOrder): CallOutcome {
  const { id } = order;
  try {
    return { kind: 'answer', id, result: work.do(order) };
  } catch (error) {
    return { kind: 'refusal', id, error: toDocshelfError(error).toPlain() };
  }
}

/** In one message: waking a thread costs as much as reading a small page, and a thread that waits for more has nothing to do. */
const ANSWERS_MAX = 4;

parentPort?.on('message', (orders: readonly PageOrder[]) => {
  for (let at = 0; at < orders.length; at += ANSWERS_MAX) {
    const answers = orders.slice(at, at + ANSWERS_MAX).map(answerTo);
    parentPort?.postMessage(answers, contents.takeGiven());
  }
});
