import { expect, test } from 'vitest';
import type { JobFilter } from '../../../src/export/ports.ts';
import { jobIdOf } from './jobs.ts';
import type { OpenSubject } from './subject.ts';
import { codeOf, Workbench } from './workbench.ts';

/** list(): newest first, in pages that stay correct while jobs are added and removed. */
export function listing(open: OpenSubject): void {
  const bench = new Workbench(open);

  const names = async (filter: Partial<Extract<JobFilter, { organizationId: string }>> = {}): Promise<string[]> => {
    const { jobs } = await bench.queue.list({ organizationId: 'acme', limit: 100, ...filter });
    return jobs.map(({ version }) => version ?? '');
  };
  const add = (name: string, domain = 'docs') => bench.add(name, { domain, version: name });

  test('returns the jobs of an organization, newest first, and filters them by domain and status', async () => {
    await bench.completed('v1', { domain: 'docs', version: 'v1' });
    await bench.failed('v2', { domain: 'docs', version: 'v2' });
    await bench.completed('v3', { domain: 'blog', version: 'v3' });
    await add('v4');
    await bench.claim();
    await add('v5');
    await bench.add('other', { organizationId: 'globex', version: 'v9' });

    expect(await names()).toEqual(['v5', 'v4', 'v3', 'v2', 'v1']);
    expect(await names({ domain: 'docs' })).toEqual(['v5', 'v4', 'v2', 'v1']);
    expect(await names({ status: 'completed' })).toEqual(['v3', 'v1']);
    expect(await names({ domain: 'docs', status: 'completed' })).toEqual(['v1']);
    expect(await names({ domain: 'docs', status: 'running' })).toEqual(['v4']);
    expect(await names({ domain: 'nobody' })).toEqual([]);
    expect(await names({ organizationId: 'globex' })).toEqual(['v9']);
  });

  test('returns the jobs of all organizations in pages', async () => {
    for (const organizationId of ['acme', 'globex', 'initech'])
      for (const name of ['v1', 'v2']) await bench.add(organizationId + name, { organizationId, version: name });
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await bench.queue.list({ organizationId: null, limit: 4, ...(cursor !== undefined && { cursor }) });
      seen.push(...page.jobs.map(({ domain }) => domain));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(['initechv2', 'initechv1', 'globexv2', 'globexv1', 'acmev2', 'acmev1']);
  });

  test('returns each job once over all pages, while other jobs are added', async () => {
    for (let i = 1; i <= 7; i += 1) await add(`v${i}`);
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await bench.queue.list({
        organizationId: 'acme',
        limit: 3,
        ...(cursor === undefined ? {} : { cursor }),
      });
      seen.push(...page.jobs.map(({ version }) => version ?? ''));
      sizes.push(page.jobs.length);
      cursor = page.nextCursor;
      await add(`late${sizes.length}`);
    }
    expect(seen).toEqual(['v7', 'v6', 'v5', 'v4', 'v3', 'v2', 'v1']);
    expect(sizes).toEqual([3, 3, 1]);
  });

  test('returns a cursor that stays valid after its job is deleted', async () => {
    for (const name of ['v1', 'v2', 'v3']) await add(name);
    const { nextCursor } = await bench.queue.list({ organizationId: 'acme', limit: 2 });
    await bench.queue.cancel(jobIdOf('v2'));
    expect(await bench.queue.prune({ beforeMs: bench.clocks.wallMs() + 1 })).toBe(1);
    expect(await names({ cursor: nextCursor ?? '' })).toEqual(['v1']);
  });

  test('returns no cursor after a full last page', async () => {
    for (const name of ['v1', 'v2']) await add(name);
    expect((await bench.queue.list({ organizationId: 'acme', limit: 2 })).nextCursor).toBeNull();
  });

  test.for(['', 'x', 'MQ==', 'MQ\n', 'LTE', 'MS41', 'MWUz', 'bm9uZQ', '9'.repeat(99)])(
    'rejects the cursor %j',
    async (cursor) => {
      await add('v1');
      expect(await codeOf(bench.queue.list({ organizationId: 'acme', limit: 2, cursor }))).toBe('bad_request');
    },
  );
}
