import { describe, expect, test } from 'vitest';
import { CANCELED } from '../../../src/domain/job.ts';
import { BUNDLE, bundleOf, faultOf, jobIdOf, LEASE_MS, newJob, reportOf } from './jobs.ts';
import type { OpenSubject } from './subject.ts';
import { codeOf, Workbench } from './workbench.ts';

/** From `queued` to an end: the effect of each call on a job in each state. */
export function lifeOfAJob(open: OpenSubject): void {
  const bench = new Workbench(open);

  test('returns an added job as queued, with the requested fields', async () => {
    const paths = ['/guides/start', '/ä b'];
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const job = await bench.add('one', { version: '2024-06-01', paths, traceparent });
    expect(job).toEqual({
      jobId: jobIdOf('one'),
      organizationId: 'acme',
      domain: 'one',
      version: '2024-06-01',
      paths,
      status: 'queued',
      progress: 0,
      pageCount: 0,
      createdAt: '2024-06-01T12:00:00.000Z',
      updatedAt: '2024-06-01T12:00:00.000Z',
      error: null,
      attempt: 0,
      isCanceled: false,
      checkpoint: null,
      traceparent,
      bundle: null,
      fault: null,
    });
    expect(await bench.queue.get(job.jobId)).toEqual(job);
    expect((await bench.claim()).traceparent).toBe(traceparent);
    expect(await bench.queue.get(jobIdOf('another'))).toBeNull();
    expect(await bench.queue.report(job.jobId)).toBeNull();
  });

  test('claims a job, records its progress and completes it', async () => {
    await bench.add('one');
    const claim = await bench.claim();
    expect(claim).toMatchObject({ jobId: jobIdOf('one'), status: 'running', attempt: 1 });
    expect(await bench.queue.claim(LEASE_MS)).toBeNull();
    expect(await bench.queue.renew(claim)).toBe('held');

    expect(await bench.queue.advance(claim, { progress: 12.5, pageCount: 3, checkpoint: 'packed' })).toBe(true);
    expect(await bench.get('one')).toMatchObject({ progress: 12.5, pageCount: 3, checkpoint: 'packed' });
    expect(await bench.queue.advance(claim, { progress: 20, pageCount: 4 })).toBe(true);
    expect(await bench.get('one')).toMatchObject({ progress: 20, pageCount: 4, checkpoint: 'packed' });

    expect(await bench.queue.complete(claim, BUNDLE, reportOf(claim.jobId))).toBe(true);
    const ended = { status: 'completed', progress: 100, pageCount: 4, error: null, bundle: BUNDLE, checkpoint: null };
    expect(await bench.get('one')).toMatchObject(ended);
    expect(await bench.queue.report(claim.jobId)).toEqual(reportOf(claim.jobId));
  });

  test('returns the error of a failed job, and its report, or null if the job has no report', async () => {
    await bench.add('one');
    const claim = await bench.claim();
    await bench.queue.advance(claim, { progress: 40, pageCount: 7 });
    const fault = { code: 'cannot_write', message: 'the disk is full', next: 'Free space.' } as const;
    expect(await bench.queue.fail(claim, fault, reportOf(claim.jobId))).toBe(true);
    expect(await bench.get('one')).toMatchObject({ status: 'failed', progress: 40, pageCount: 7, bundle: null });
    expect(await bench.get('one')).toMatchObject({ error: 'the disk is full. Free space.', fault });
    expect(await bench.queue.report(claim.jobId)).toEqual(reportOf(claim.jobId));
    const other = await bench.failed('two');
    expect(other).toMatchObject({ error: other.fault?.message, fault: { next: null } });
    expect(await bench.queue.report(other.jobId)).toBeNull();
  });

  test.for(['completed', 'failed'] as const)('accepts no writes to a job that is %s', async (end) => {
    await bench.add('one');
    const claim = await bench.claim();
    if (end === 'completed') await bench.queue.complete(claim, BUNDLE, reportOf(claim.jobId));
    else await bench.queue.fail(claim, faultOf('no pages'), null);
    await bench.expectPowerless(claim);
    expect((await bench.get('one')).status).toBe(end);
    expect(await bench.queue.claim(LEASE_MS)).toBeNull();
  });

  test('takes the page count of a completed job from its report, even if no progress was reported', async () => {
    await bench.add('one');
    const claim = await bench.claim();
    expect(await bench.queue.complete(claim, BUNDLE, reportOf(jobIdOf('one')))).toBe(true);
    expect(await bench.get('one')).toMatchObject({ status: 'completed', progress: 100, pageCount: 2 });
  });

  test('never decreases progress and pageCount, also in a later attempt, and ends with progress 100', async () => {
    await bench.add('one');
    const first = await bench.claim();
    await bench.queue.advance(first, { progress: 60, pageCount: 30 });
    await bench.queue.advance(first, { progress: 10, pageCount: 31 });
    expect(await bench.get('one')).toMatchObject({ progress: 60, pageCount: 31 });
    await bench.queue.release(first);
    const second = await bench.claim();
    await bench.queue.advance(second, { progress: 5, pageCount: 1 });
    expect(await bench.get('one')).toMatchObject({ progress: 60, pageCount: 31 });
    await bench.queue.complete(second, BUNDLE, reportOf(second.jobId));
    expect(await bench.get('one')).toMatchObject({ progress: 100, pageCount: 31 });
  });

  test('resumes a released job from its checkpoint, before other jobs of its organization', async () => {
    for (const name of ['one', 'two', 'three']) await bench.add(name);
    const first = await bench.claim();
    const second = await bench.claim();
    await bench.queue.advance(second, { progress: 50, pageCount: 5, checkpoint: 'half' });
    await bench.queue.release(first);
    await bench.queue.release(second);
    expect(await bench.get('two')).toMatchObject({ status: 'queued', progress: 50, attempt: 1, checkpoint: 'half' });
    await bench.expectPowerless(second);

    const order = [await bench.claim(), await bench.claim(), await bench.claim()];
    expect(order.map(({ domain }) => domain)).toEqual(['two', 'one', 'three']);
    expect(order.map(({ attempt }) => attempt)).toEqual([2, 2, 1]);
    expect(order[0]?.checkpoint).toBe('half');
  });

  describe('cancel()', () => {
    test('ends a queued job at once', async () => {
      await bench.add('one');
      const canceled = { status: 'failed', error: 'canceled', fault: CANCELED, isCanceled: true, progress: 0 };
      expect(await bench.queue.cancel(jobIdOf('one'))).toMatchObject(canceled);
      expect(await bench.get('one')).toMatchObject(canceled);
      expect(await bench.queue.claim(LEASE_MS)).toBeNull();
    });

    test('makes renew() return canceled for a running job, rejects complete(), and ends the job as canceled on fail()', async () => {
      await bench.add('one');
      const claim = await bench.claim();
      expect(await bench.queue.cancel(jobIdOf('one'))).toMatchObject({
        status: 'running',
        isCanceled: true,
        error: null,
      });
      expect(await bench.queue.renew(claim)).toBe('canceled');
      expect(await bench.queue.complete(claim, BUNDLE, reportOf(claim.jobId))).toBe(false);
      expect(await bench.queue.fail(claim, faultOf('aborted'), null)).toBe(true);
      expect(await bench.get('one')).toMatchObject({
        status: 'failed',
        error: 'canceled',
        fault: CANCELED,
        bundle: null,
      });
    });

    test('ends a running job when its worker releases the job', async () => {
      await bench.add('one');
      const claim = await bench.claim();
      await bench.queue.cancel(jobIdOf('one'));
      await bench.queue.release(claim);
      expect(await bench.get('one')).toMatchObject({ status: 'failed', error: 'canceled' });
    });

    test('ends a running job whose lease has expired, instead of running the job again', async () => {
      const other = await bench.subject.another();
      for (const name of ['one', 'two']) await bench.add(name);
      await bench.claim();
      await bench.queue.cancel(jobIdOf('one'));
      await bench.claim();
      expect(await other.claim(LEASE_MS)).toBeNull();
      bench.clocks.wait(LEASE_MS);
      expect(await bench.claim(other)).toMatchObject({ domain: 'two', attempt: 2 });
      expect(await other.claim(LEASE_MS)).toBeNull();
      expect(await bench.get('one')).toMatchObject({ status: 'failed', error: 'canceled', attempt: 1 });
    });

    test('does not change an ended job, and returns null for an unknown job', async () => {
      for (const job of [await bench.completed('one'), await bench.failed('two')]) {
        bench.clocks.wait(1000);
        expect(await bench.queue.cancel(job.jobId)).toEqual(job);
      }
      expect(await bench.queue.cancel(jobIdOf('another'))).toBeNull();
    });
  });

  test('sets updatedAt on visible changes, and never to an earlier time if the clock is set back', async () => {
    bench.clocks.setWall('2024-06-01T12:00:00.000Z');
    await bench.add('one');
    bench.clocks.setWall('2020-01-01T00:00:00.000Z');
    const claim = await bench.claim();
    expect(await bench.get('one')).toMatchObject({ updatedAt: '2024-06-01T12:00:00.000Z' });
    bench.clocks.setWall('2024-06-01T13:00:00.500Z');
    await bench.queue.advance(claim, { progress: 1, pageCount: 0 });
    expect(await bench.get('one')).toMatchObject({ updatedAt: '2024-06-01T13:00:00.500Z' });
    bench.clocks.setWall('2024-06-01T12:30:00.000Z');
    await bench.queue.complete(claim, BUNDLE, reportOf(claim.jobId));
    expect(await bench.get('one')).toMatchObject({
      createdAt: '2024-06-01T12:00:00.000Z',
      updatedAt: '2024-06-01T13:00:00.500Z',
    });
  });

  test('limits the queued jobs of an organization over all processes', async () => {
    const others = await bench.subject.another();
    const add = (i: number, organizationId: string) => {
      const job = newJob(jobIdOf(`${organizationId} ${i}`), { organizationId, domain: `${organizationId}-${i}` });
      return codeOf((i % 2 === 0 ? bench.queue : others).add(job, 4));
    };
    const codes = await Promise.all(Array.from({ length: 10 }, (_, i) => add(i, 'acme')));
    expect(codes.toSorted()).toEqual([...Array(4).fill('none'), ...Array(6).fill('queue_full')]);
    expect(await add(0, 'globex')).toBe('none');
    expect(await bench.queue.counts('acme')).toEqual({ queued: 4, running: 0 });

    // A running job no longer waits.
    expect((await bench.claim()).organizationId).toBe('acme');
    expect(await add(10, 'acme')).toBe('none');
    expect(await add(11, 'acme')).toBe('queue_full');
  });

  test('returns the queued job if any process requests the same job again', async () => {
    const others = await bench.subject.another();
    const addJob = (queue: typeof others, name: string, changes: object = {}) =>
      queue.add(newJob(jobIdOf(name), { domain: 'acme', version: 'v1', paths: ['/a'], ...changes }), 4);
    const added = await Promise.all(
      ['one', 'two', 'three'].map((name, i) => addJob(i === 1 ? others : bench.queue, name)),
    );
    expect(new Set(added.map(({ jobId }) => jobId)).size).toBe(1);
    const different = [
      { version: null },
      { version: 'v2' },
      { paths: null },
      { paths: ['/b'] },
      { organizationId: 'x' },
    ];
    const jobs = await Promise.all(different.slice(0, 3).map((changes, i) => addJob(others, `other ${i}`, changes)));
    expect(new Set([...added, ...jobs].map(({ jobId }) => jobId)).size).toBe(4);
    // A repeated request adds no waiting job.
    expect(await codeOf(addJob(bench.queue, 'full', { paths: ['/b'] }))).toBe('queue_full');
    expect(await codeOf(addJob(bench.queue, 'again', { paths: null }))).toBe('none');
    expect((await addJob(bench.queue, 'theirs', different.at(-1))).jobId).toBe(jobIdOf('theirs'));

    const running = await bench.claim();
    const { version, paths } = running;
    expect((await addJob(bench.queue, 'anew', { version, paths, organizationId: running.organizationId })).jobId).toBe(
      jobIdOf('anew'),
    );
  });

  test('counts queued and running jobs, in total and per organization', async () => {
    await bench.completed('done');
    for (const name of ['one', 'two', 'three']) await bench.add(name);
    await bench.add('other', { organizationId: 'globex' });
    await bench.claim();
    const [ofGlobex, ofAcme] = [await bench.queue.counts('globex'), await bench.queue.counts('acme')];
    expect(await bench.queue.counts()).toEqual({ queued: 3, running: 1 });
    expect([ofGlobex.queued + ofGlobex.running, ofAcme.queued + ofAcme.running]).toEqual([1, 3]);
    expect(await bench.queue.counts('nobody')).toEqual({ queued: 0, running: 0 });
  });

  test('changes the value of revision() after each change of a job, and only then', async () => {
    const seen = [await bench.queue.revision()];
    const look = async (change: Promise<unknown>): Promise<void> => {
      await change;
      seen.push(await bench.queue.revision());
      expect(await bench.queue.revision()).toBe(seen.at(-1));
    };
    await look(bench.add('one'));
    await look(bench.add('two'));
    await look(bench.queue.cancel(jobIdOf('two')));
    const claim = await bench.claim();
    await look(Promise.resolve());
    await look(bench.queue.advance(claim, { progress: 40, pageCount: 7 }));
    await look(bench.queue.advance(claim, { progress: 41, pageCount: 8 }));
    await look(bench.queue.complete(claim, BUNDLE, reportOf(claim.jobId)));
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('returns the newest completed job of a domain and version in lastCompleted(), and treats null as a separate version', async () => {
    const site = { domain: 'docs' };
    await bench.completed('v1 first', { ...site, version: 'v1' });
    await bench.completed('v1', { ...site, version: 'v1' });
    await bench.completed('unlabelled', site);
    await bench.failed('v1 failed', { ...site, version: 'v1' });
    await bench.completed('elsewhere', { domain: 'blog', version: 'v1' });
    const last = (domain: string, version: string | null) => bench.queue.lastCompleted('acme', domain, version);
    expect(await last('docs', 'v1')).toEqual(await bench.get('v1'));
    expect(await last('docs', null)).toEqual(await bench.get('unlabelled'));
    expect(await last('docs', 'v2')).toBeNull();
    expect(await bench.queue.lastCompleted('globex', 'docs', 'v1')).toBeNull();
  });

  test('prunes jobs that ended before a time, except for the newest completed job of each domain', async () => {
    await bench.completed('docs 1', { domain: 'docs' }, bundleOf('1'));
    await bench.completed('docs 2', { domain: 'docs' }, bundleOf('2'));
    await bench.failed('docs 3', { domain: 'docs' });
    await bench.completed('blog 1', { domain: 'blog' }, bundleOf('3'));
    await bench.add('canceled', { domain: 'docs' });
    await bench.queue.cancel(jobIdOf('canceled'));
    await bench.add('running', { domain: 'docs' });
    await bench.claim();
    await bench.add('queued', { domain: 'docs' });
    bench.clocks.wait(60_000);
    const beforeMs = bench.clocks.wallMs();
    bench.clocks.wait(60_000);
    await bench.failed('later', { domain: 'news' });

    expect(await bench.queue.prune({ beforeMs })).toBe(3);
    const { jobs } = await bench.queue.list({ organizationId: 'acme', limit: 100 });
    const kept = ['later', 'queued', 'running', 'blog 1', 'docs 2'].map(jobIdOf);
    expect(jobs.map(({ jobId }) => jobId)).toEqual(kept);
    expect(await bench.queue.prune({ beforeMs })).toBe(0);
    const { bundles } = await bench.queue.references();
    expect([...bundles].toSorted()).toEqual([bundleOf('2').sha256, bundleOf('3').sha256]);
  });

  test('prunes all but the newest completed and the newest failed jobs of each domain', async () => {
    for (const n of [1, 2, 3]) {
      await bench.completed(`docs ${n}`, { domain: 'docs' }, bundleOf(String(n)));
      await bench.failed(`failed ${n}`, { domain: 'docs' });
    }
    await bench.add('canceled', { domain: 'docs' });
    await bench.queue.cancel(jobIdOf('canceled'));
    await bench.completed('blog', { domain: 'blog' }, bundleOf('1'));
    await bench.add('running', { domain: 'docs' });
    await bench.claim();
    await bench.add('queued', { domain: 'docs' });

    expect(await bench.queue.prune({ newest: 2 })).toBe(3);
    const { jobs } = await bench.queue.list({ organizationId: 'acme', limit: 100 });
    const kept = ['queued', 'running', 'blog', 'canceled', 'failed 3', 'docs 3', 'docs 2'].map(jobIdOf);
    expect(jobs.map(({ jobId }) => jobId)).toEqual(kept);
    expect(await bench.queue.prune({ newest: 2 })).toBe(0);
  });

  test('prunes any number of jobs', async () => {
    for (let i = 0; i < 450; i += 1) await bench.add(`job ${i}`, { organizationId: `org-${i % 3}` });
    for (let i = 0; i < 450; i += 1) await bench.queue.cancel(jobIdOf(`job ${i}`));
    expect(await bench.queue.prune({ beforeMs: bench.clocks.wallMs() + 1 })).toBe(450);
  });

  test('returns each digest of completed jobs once in references()', async () => {
    expect(await bench.queue.references()).toEqual({ bundles: new Set(), contents: new Set() });
    await bench.completed('one', {}, bundleOf('1'));
    await bench.completed('two', {}, bundleOf('1'));
    await bench.completed('three', {}, bundleOf('2'));
    const [first, second] = [bundleOf('1'), bundleOf('2')];
    expect(await bench.queue.references()).toEqual({
      bundles: new Set([first.sha256, second.sha256]),
      contents: new Set([first.contentSha256, second.contentSha256]),
    });
  });
}
