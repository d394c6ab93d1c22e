import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, it, vi } from 'vitest';
import { DocshelfError } from '../../src/domain/errors.ts';
import type { BuildIndexRequest } from '../../src/search/indexing/build-index.ts';
import { IndexBuilds, IndexTurns } from '../../src/search/indexing/index-builds.ts';
import type { SearchCalls } from '../../src/search/worker.ts';
import type { Thread } from '../../src/threads/index.ts';
import { newFolder } from '../helpers/new-folder.ts';

let dir: string;
beforeEach(async () => {
  dir = newFolder();
});

async function release(name: string) {
  const releaseDir = join(dir, name);
  await mkdir(join(releaseDir, 'search'), { recursive: true });
  return { digest: name, releaseDir, trailingSlash: 'never' as const };
}

type OnPage = (path: string | null) => void;

function buildsBy(
  fill: (order: BuildIndexRequest, onPage: OnPage, ended: Promise<never>) => Promise<void>,
  text = '',
): IndexBuilds {
  let ended = Promise.withResolvers<never>();
  const process = {
    call: async (_: string, order: BuildIndexRequest, { onProgress }: { readonly onProgress: OnPage }) => {
      ended = Promise.withResolvers();
      ended.promise.catch(() => undefined);
      await mkdir(order.searchDir);
      await fill(order, onProgress, ended.promise);
      await writeFile(join(order.searchDir, 'keyword.sqlite'), text);
      return 1;
    },
    terminate: async () => ended.reject(new DocshelfError('worker_ended', 'Cannot go on: it was ended')),
    end: async () => undefined,
    processorMs: async () => performance.now(),
  };
  return new IndexBuilds({
    turns: new IndexTurns(),
    memoryBytesMax: 384 * 1024 ** 2,
    thread: () => process as unknown as Thread<SearchCalls>,
    pageMsMax: 10,
  });
}

const keywordOf = ({ releaseDir }: { releaseDir: string }) =>
  readFile(join(releaseDir, 'search/keyword.sqlite'), 'utf8');

it('IndexBuilds builds an index once if two daemons share the folder, and removes leftovers of a killed build', async () => {
  const both = await release('one');
  await mkdir(join(both.releaseDir, '.search-0123456789ab'));
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const one = buildsBy(() => {
    begun.resolve();
    return gate.promise;
  }, 'one');
  const other = buildsBy(async () => undefined, 'other');
  const { signal } = new AbortController();
  const building = one.build(both, signal);
  await begun.promise;
  const waiting = other.build(both, signal);
  // Far longer than sweeping and building take.
  await sleep(200);
  gate.resolve();
  expect(await Promise.all([building, waiting])).toEqual([1, null]);
  expect([await readdir(both.releaseDir), await keywordOf(both)]).toEqual([['search'], 'one']);
});

it('IndexBuilds builds an index in a waiting daemon if the build of the first daemon fails', async () => {
  const both = await release('one');
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const one = buildsBy(() => {
    begun.resolve();
    return gate.promise;
  });
  const other = buildsBy(async () => undefined, 'other');
  const building = one.build(both, new AbortController().signal);
  await begun.promise;
  const stopping = new AbortController();
  const aborted = other.build(both, stopping.signal);
  const waiting = other.build(both, new AbortController().signal);
  stopping.abort(new RangeError('the daemon stops'));
  await expect(aborted).rejects.toThrow('the daemon stops');
  gate.reject(new Error('a bad disk'));
  await expect(building).rejects.toThrow('a bad disk');
  expect(await waiting).toBe(1);
  expect(await keywordOf(both)).toBe('other');
});

it('IndexBuilds skips a page that takes too long to read', async () => {
  const orders: BuildIndexRequest[] = [];
  const reported: string[] = [];
  const builds = buildsBy(async (order, onPage, ended) => {
    orders.push(order);
    if (order.leftOut.includes('deep.html')) return onPage('large.html');
    onPage('deep.html');
    await ended;
  });
  const report = (phase: string, page: string | null) => void reported.push(page === null ? phase : `${phase} ${page}`);
  const { signal } = new AbortController();
  await builds.build(await release('next'), signal, { site: 'acme', report });
  expect(orders.map(({ leftOut }) => leftOut)).toEqual([[], ['deep.html']]);
  expect(reported).toEqual(['waiting to index', 'indexing', 'indexing deep.html', 'indexing large.html']);
});

it('IndexBuilds skips all large pages of a release after three large pages killed the process', async () => {
  const orders: BuildIndexRequest[] = [];
  const builds = buildsBy(async (order, onPage) => {
    orders.push(order);
    if (order.leavesOutLarge === true) return;
    onPage(`page-${order.leftOut.length}.html`);
    throw new DocshelfError('worker_ended', 'Cannot go on: it took 385 MiB');
  });
  await builds.build(await release('next'), new AbortController().signal);
  expect(orders).toHaveLength(4);
  expect(orders.at(-1)?.leftOut).toEqual(['page-0.html', 'page-1.html', 'page-2.html']);
});

it('IndexBuilds states in the progress of a second site that it waits while the first site is indexed', async () => {
  const end = Promise.withResolvers<void>();
  const builds = buildsBy(() => end.promise);
  const { signal } = new AbortController();
  const reported: Record<string, string[]> = { acme: [], beta: [] };
  const build = async (site: string) =>
    builds.build(await release(site), signal, { site, report: (phase) => void reported[site]?.push(phase) });
  const both = [build('acme'), build('beta')];
  await vi.waitFor(() => expect([reported.acme?.length, reported.beta?.length].sort()).toEqual([1, 2]), 30_000);
  end.resolve();
  await Promise.all(both);
  expect(reported).toEqual({ acme: ['waiting to index', 'indexing'], beta: ['waiting to index', 'indexing'] });
});
