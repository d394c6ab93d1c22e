import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { MIGRATIONS } from '../../src/database/migrations.ts';
import type { Job } from '../../src/domain/job.ts';
import { openTestDatabase } from '../database/open.ts';
import { openBench } from '../helpers/daemon.ts';
import { HAS_POSTGRES, PostgresServer } from '../helpers/postgres.ts';
import { blockJobs, JOBS, problemOf, startExporter } from './export-service.ts';
import { SharedService } from './shared-service.ts';

const bench = openBench(afterEach);

describe.skipIf(!HAS_POSTGRES)('processes of one export service', () => {
  test('start without the database, and accept jobs once the database is available', async () => {
    const postgres = await PostgresServer.start();
    const folder = await bench.folder();
    await writeFile(join(folder, 'database-url'), await postgres.createDatabase());
    await postgres.stop();
    const service = await startExporter(bench, { database: { urlFile: './database-url' } }, { folder });
    expect(await problemOf(await service.call('POST', JOBS, { body: { domain: 'acme' } }))).toMatchObject({
      status: 503,
      code: 'database_unavailable',
    });
    await postgres.go();
    expect(await service.export()).toMatchObject({ status: 'completed' });
    expect(service.daemon.log()).not.toContain('hidden-word');
    expect(await service.daemon.stop()).toBe(0);
  });

  test('show the progress and the report of a job that another process runs', async () => {
    const gate = await blockJobs();
    const service = await SharedService.start(bench, { apis: 2, workers: 1, config: gate.config });
    const { jobId } = await service.as('a').start('a-0');
    const seen = (api: number) => service.as('a', api).until(jobId, ({ progress }) => progress >= 40);
    for (const api of [0, 1]) expect(await seen(api)).toMatchObject({ status: 'running', pageCount: 2 });
    expect((await service.as('a', 1).call('GET', `${JOBS}/${jobId}/report`)).status).toBe(409);
    expect((await service.as('b', 1).call('GET', `${JOBS}/${jobId}`)).status).toBe(404);
    gate.open();
    for (const api of [0, 1]) {
      expect(await service.as('a', api).ended(jobId)).toMatchObject({ status: 'completed', progress: 100 });
      expect(await service.as('a', api).report(jobId)).toMatchObject({ jobId, pages: 2 });
    }
  });

  test('stop a running job that was canceled on another process, and start the next job', async () => {
    const gate = await blockJobs();
    const config = { ...gate.config, admin: { token: 'token-of-the-operator' } };
    const service = await SharedService.start(bench, { apis: 2, workers: 1, config });
    const running = await service.as('a').start('a-0');
    await service.as('a', 1).until(running.jobId, ({ progress }) => progress >= 40);
    const [waiting, next] = [await service.as('a').start('a-1'), await service.as('b').start('b-0')];
    await service.as('a', 1).cancel(waiting.jobId);
    await service.as('a', 1).cancel(running.jobId);
    const canceled = { status: 'failed', error: 'canceled' };
    for (const { jobId } of [running, waiting]) expect(await service.as('a').ended(jobId)).toMatchObject(canceled);
    expect((await service.as('a').call('POST', `${JOBS}/${running.jobId}/bundle`)).status).toBe(409);
    await service.as('b', 1).until(next.jobId, ({ status }) => status === 'running');
    const retry = await fetch(`${service.apis[0]?.daemon.admin}/v1/jobs/${running.jobId}/retry`, {
      method: 'POST',
      headers: { authorization: 'Bearer token-of-the-operator' },
    });
    expect(retry.status).toBe(202);
    const again = (await retry.json()) as Job;
    expect(again).toMatchObject({ jobId: expect.not.stringMatching(running.jobId), domain: 'a-0', status: 'queued' });
    gate.open();
    expect(await service.as('b').ended(next.jobId)).toMatchObject({ status: 'completed' });
    expect(await service.as('a', 1).ended(again.jobId)).toMatchObject({ status: 'completed', pageCount: 2 });
    expect(await service.as('a', 1).job(running.jobId)).toMatchObject(canceled);

    const [worker] = service.workers;
    const eventsOf = (jobId: string) => worker?.lines().flatMap((line) => (line.jobId === jobId ? [line.event] : []));
    expect(eventsOf(running.jobId)).toEqual(['job-started', 'job-failed']);
    expect(eventsOf(waiting.jobId)).toEqual([]);
    expect(eventsOf(next.jobId)).toEqual(['job-started', 'job-completed']);
  });

  test.each(MIGRATIONS.slice(1).map((_, at) => at + 1))(
    'migrate a database schema of version %i, and run its queued jobs',
    async (version) => {
      const postgres = await PostgresServer.start();
      const url = await postgres.createDatabase();
      const older = openTestDatabase(url, { migrations: MIGRATIONS.slice(0, version) });
      await older.bringUp();
      await older.close();
      const sha256 = 'ab'.repeat(32);
      await postgres.query(
        `INSERT INTO docshelf.export_jobs (job_id, organization_id, domain, version, created_at_ms, updated_at_ms) VALUES
        ('se_0000000000000001', 'a', 'a-0', 'v1', 1, 1), ('se_0000000000000002', 'b', 'b-0', NULL, 2, 2);
      INSERT INTO docshelf.export_jobs (job_id, organization_id, domain, created_at_ms, updated_at_ms, status, progress, attempt, completion,
        bundle_sha256, bundle_size_bytes, content_sha256, report) VALUES
        ('se_0000000000000003', 'a', 'a-1', 3, 3, 'completed', 100, 1, nextval('docshelf.export_completions'), '${sha256}', 9, '${sha256}', '{}')`,
        url,
      );
      if (version > 1) {
        await postgres.query(
          `INSERT INTO docshelf.api_keys (id, organization_id, type, name, sha256, created_at) VALUES
          ('key_0000000000000001', 'a', 'admin', 'made', '${sha256}', '2026-11-01T00:00:00Z')`,
          url,
        );
      }
      // Both processes start at the same time. One of them migrates.
      const service = await SharedService.start(bench, { apis: 1, workers: 2, server: { postgres, url } });
      expect(await service.as('a').ended('se_0000000000000001')).toMatchObject({
        status: 'completed',
        version: 'v1',
        pageCount: 2,
      });
      expect(await service.as('b').ended('se_0000000000000002')).toMatchObject({ status: 'completed', version: null });
      expect(await service.as('a').job('se_0000000000000003')).toMatchObject({
        status: 'completed',
        createdAt: '1970-01-01T00:00:00.003Z',
      });
      expect(await service.as('a').export('a-2')).toMatchObject({ status: 'completed' });
      expect(await service.query('SELECT max(version) AS version FROM docshelf.migrations')).toEqual([
        { version: MIGRATIONS.length },
      ]);
      if (version > 1)
        expect(await service.query('SELECT id FROM docshelf.api_keys')).toEqual([{ id: 'key_0000000000000001' }]);
    },
  );
});
