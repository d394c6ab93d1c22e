import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DocshelfError } from '../../src/domain/errors.ts';
import { CarriedAttempts } from '../../src/search/bundle-data/carried-attempts.ts';
import type { IndexOrder } from '../../src/search/indexing/build-index.ts';
import { IndexBuilds } from '../../src/search/processes/index-builds.ts';
import { IndexTurns } from '../../src/search/processes/index-turns.ts';
import type { SearchCalls } from '../../src/search/worker.ts';
import type { Thread } from '../../src/threads/index.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'docshelf-index-builds-'));
});
afterEach(() => rm(dir, { recursive: true }));

async function release(name: string) {
  const releaseDir = join(dir, name);
  await mkdir(join(releaseDir, 'search'), { recursive: true });
  return { digest: name, releaseDir, trailingSlash: 'never' as const };
}

const besideFormer = ({ formerDir }: IndexOrder) => formerDir !== null;

/** Processes that by default end with whatever the version before gives them. */
function buildsThatEnd(orders: IndexOrder[], ends: (order: IndexOrder) => boolean = besideFormer): IndexBuilds {
  const process = {
    call: async (_: string, order: IndexOrder) => {
      orders.push(order);
      await mkdir(order.searchDir);
      if (ends(order)) throw new DocshelfError('worker_ended', 'Cannot go on: it took 385 MiB');
      await writeFile(join(order.searchDir, 'keyword.sqlite'), '');
      return { sections: 1, refused: null };
    },
    terminate: async () => undefined,
    end: async () => undefined,
  };
  return new IndexBuilds({
    turns: new IndexTurns(),
    attempts: new CarriedAttempts(join(dir, 'refused')),
    modelFolder: null,
    memoryBytesMax: 384 * 1024 ** 2,
    thread: () => process as unknown as Thread<SearchCalls>,
  });
}

it('is written anew where the index of the version before takes the process along', async () => {
  const orders: IndexOrder[] = [];
  const [former, next] = [await release('one'), await release('two')];
  const builds = buildsThatEnd(orders);
  const { signal } = new AbortController();
  // Whoever asked is told, and asks again.
  await expect(builds.build(next, former, signal)).rejects.toMatchObject({ code: 'worker_ended' });
  expect((await builds.build(next, former, signal)).sections).toBe(1);
  expect(orders.map(({ formerDir }) => formerDir)).toEqual([join(former.releaseDir, 'search'), null]);
});

it('goes on from the version before where it has ended without one', async () => {
  const orders: IndexOrder[] = [];
  const [former, next] = [await release('one'), await release('two')];
  const builds = buildsThatEnd(orders, () => orders.length === 1);
  const { signal } = new AbortController();
  await expect(builds.build(next, null, signal)).rejects.toMatchObject({ code: 'worker_ended' });
  await builds.build(next, former, signal);
  expect(orders.map(({ formerDir }) => formerDir)).toEqual([null, join(former.releaseDir, 'search')]);
});
