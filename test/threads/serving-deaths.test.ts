import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { writeFileTable } from '../../src/files/index.ts';
import { HEAPS } from '../../src/threads/index.ts';
import { releases } from '../site/helpers.ts';

/** Ends threads of readers' requests in the middle. Their requests get 503, and later ones work again. */

const PAGE = '<!doctype html><title>Home</title><main><h1>Home</h1><p>All of it. <a href="/b">b</a></p></main>';
const NEVER = new AbortController().signal;

/** Ends the next thread before its first response. */
async function endOfNext(): Promise<void> {
  const [worker] = (await once(process, 'worker')) as [Worker];
  expect(worker.resourceLimits).toMatchObject(HEAPS.mount);
  await worker.terminate();
}

describe('A serving thread that dies', () => {
  // Threads of other tests still run. New modules start new threads.
  beforeEach(() => void vi.resetModules());
  const server = async () => (await import('../site/helpers.ts')).serve;

  it('causes only the request for the page that it rewrites to fail', async () => {
    const { send } = (await server())([releases.make({ 'a.html': PAGE, 'b.html': PAGE })], { basePath: '/docs/' });
    const ending = endOfNext();
    const [{ status }] = await Promise.all([send('/a'), ending]);
    expect(status).toBe(503);
    expect([await (await send('/a')).text(), (await send('/b')).status]).toEqual([PAGE.replace('/b', '/docs/b'), 200]);
  });

  it('leaves docshelf without Markdown of the page that it converted, but does not affect other pages', async () => {
    const { send } = (await server())([releases.make({ 'a.html': PAGE, 'b.html': PAGE })], { markdown: true });
    const ending = endOfNext();
    const [{ status }] = await Promise.all([send('/a.md'), ending]);
    expect(status).toBe(503);
    expect([(await send('/a.md')).status, (await send('/b.md')).status]).toEqual([404, 200]);
  });

  it('causes only the running comparison of two versions to fail, but not a later comparison', async () => {
    const folders = await Promise.all(
      [PAGE, PAGE.replace('All', 'Some')].map(async (page) => {
        const release = releases.make({ 'index.html': page });
        await writeFileTable(release.releaseDir, [...release.files.values()]);
        return release.releaseDir;
      }),
    );
    const [before = '', after = ''] = folders;
    const { diffVersions } = await import('../../src/site/versions/diff-versions.ts');
    const ending = endOfNext();
    const failed = diffVersions({ before, after }, NEVER).catch((error: unknown) => error);
    expect(await failed).toMatchObject({ code: 'worker_ended' });
    await ending;
    expect((await diffVersions({ before, after }, NEVER)).changed).toHaveLength(1);
  });
});
