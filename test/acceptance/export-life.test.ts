import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { verifyFile } from '../../src/archive/minisign.ts';
import { openBench } from '../helpers/daemon.ts';
import { readFolder } from '../helpers/read-archive.ts';
import { setClock, withClock } from '../helpers/shifted-clock.ts';
import { type Files, writeFiles } from '../helpers/write-files.ts';
import { sha256Of } from './bundles.ts';
import { filesOfJob } from './crawl-service.ts';
import {
  adminKey,
  blockJobs,
  type Exporter,
  KEYS,
  organizations,
  problemOf,
  SITE,
  startAgain,
  startExporter,
} from './export-service.ts';

/** Content and lifetime of the service side's data, with the built program. */

const bench = openBench(afterEach);

const MARKDOWN: Files = {
  'docs.json': '{"url": "https://docs.acme.dev"}',
  'index.md': '---\ntitle: Home\n---\n\nThe lantern burns all night. [Start](guides/start.md)\n',
  'guides/start.md': '---\ntitle: Start\ntags: [basics]\n---\n\n## First\n\n```js\nconsole.log(1);\n```\n',
  'guides/next.md': '# Next\n\nSee [the start](start.md#first).\n',
};

/** Names of stored files and bundles, with the time of their last write. */
async function stored({ daemon }: Exporter): Promise<{ files: string[]; bundles: string[]; manifests: string[] }> {
  const at = join(daemon.dataDir, 'exports');
  const named = async (name: string) =>
    (await readdir(join(at, name), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name)
      .sort();
  return { files: await named('files'), bundles: await named('bundles'), manifests: await named('manifests') };
}

describe.each<[kind: string, site: Files, change: Files]>([
  ['folder', SITE, { 'guides/start.html': `${SITE['guides/start.html']}<!-- changed -->` }],
  ['markdown', MARKDOWN, { 'guides/next.md': '# Next\n\nChanged. See [the start](start.md#first).\n' }],
])('a site from a source of kind %s', (kind, site, change) => {
  test('is exported to the same archive again unless the site has changed', async () => {
    const source = { kind, path: './site' };
    const service = await startExporter(bench, { organizations: organizations(source) }, { site });
    const first = await service.export('acme', { version: 'v1' });
    const link = await service.bundle(first.jobId);
    const before = await stored(service);
    const second = await service.export('acme', { version: 'v1' });
    expect(second.pageCount).toBe(first.pageCount);
    expect(await service.bundle(second.jobId)).toMatchObject({ sha256: link.sha256, sizeBytes: link.sizeBytes });
    expect(await stored(service)).toEqual(before);

    const old = await filesOfJob(bench, service, first.jobId);
    await writeFiles(join(service.daemon.folder, 'site'), change);
    const third = await service.export('acme', { version: 'v1' });
    const now = await filesOfJob(bench, service, third.jobId);
    const changed = [...now].filter(([path, bytes]) => !old.get(path)?.equals(bytes)).map(([path]) => path);
    expect(changed.length).toBeGreaterThan(1);
    expect(changed.length).toBeLessThan(now.size);
    const after = await stored(service);
    expect(after.bundles).toHaveLength(before.bundles.length + 1);
    const fresh = after.files.filter((name) => !before.files.includes(name));
    // Changed files of the bundle. The manifest is stored elsewhere, and the table of the site is stored with the files.
    const digests = changed.map((path) => sha256Of(now.get(path) ?? '')).filter((sha256) => fresh.includes(sha256));
    expect(digests).toHaveLength(changed.length - 1);
    expect(fresh).toHaveLength(digests.length + 1);
  });
});

test('a stopped daemon releases its export job, and the next daemon resumes that job', async () => {
  const { config, open } = await blockJobs();
  const first = await startExporter(bench, config);
  const { jobId } = await first.start();
  await first.until(jobId, ({ status, progress }) => status === 'running' && progress >= 40);
  expect(await first.daemon.stop()).toBe(0);
  open();
  const second = await startAgain(bench, first);
  expect(await second.ended(jobId)).toMatchObject({ status: 'completed', progress: 100 });
  expect(await readdir(join(second.daemon.dataDir, 'exports/work'))).toEqual([]);
});

test('a daemon that fetches a bundle searches by meaning with the search data in the bundle, and computes no vectors itself', async () => {
  const model = { search: { model: 'builtin' } };
  const service = await startExporter(bench, model);
  const { bundleUrl, sha256 } = await service.bundle((await service.export()).jobId);
  expect((await service.bundle((await service.export()).jobId)).sha256).toBe(sha256);
  const reader = await bench.start({ ...model, staticExport: { bundleUrl }, log: { access: false } });
  const { search } = await reader.until(({ active, search: { semantic } }) => active !== null && semantic === 'ready');
  expect(search).toMatchObject({ keyword: 'ready', embedded: search.sections });
  expect(search.sections).toBeGreaterThan(0);
  const response = await fetch(`${reader.site}/_docshelf/search?q=automobile%20repair`);
  const [best] = (await response.json()) as { path: string }[];
  expect(best?.path).toMatch(/^\/guides\/start/);
  // Vectors that the daemon computed itself would be in its vector cache.
  const made = await readFolder(join(reader.dataDir, 'vectors')).catch(() => new Map<string, Buffer>());
  expect([...made].filter(([path]) => path.endsWith('.seg'))).toEqual([]);
});

test('an export signs its bundles if a key is set, and minisign verifies them', async () => {
  const fixtures = join(import.meta.dirname, '../fixtures/minisign');
  const folder = await bench.folder();
  await writeFile(join(folder, 'sign.key'), await readFile(join(fixtures, 'throwaway.key')));
  const service = await startExporter(bench, { exportApi: { signingKeyFile: './sign.key' } }, { folder });
  const job = await service.export();
  const { bundleUrl, signature = '', sha256 } = await service.bundle(job.jobId);
  const file = join(folder, 'bundle.tar.gz');
  await writeFile(file, await service.download(bundleUrl));
  const publicKey = await readFile(join(fixtures, 'throwaway.pub'), 'utf8');
  const { trustedComment } = await verifyFile(file, signature, [publicKey]);
  expect(trustedComment).toMatch(/^docshelf domain=acme (?:version=\S+ )?created=\d{4}-\d\d-\d\dT\S+Z$/);
  const other = await readFile(join(fixtures, 'other.pub'), 'utf8');
  await expect(verifyFile(file, signature, [other])).rejects.toMatchObject({ code: 'bad_signature' });
  await rm(join(service.daemon.dataDir, 'exports/bundles', `${sha256}.tar.gz`));
  expect((await service.bundle(job.jobId)).signature).toBe(signature);
});

describe('a reload of the export config', () => {
  test('applies keys, domains and plans as soon as organizationsFile changes', async () => {
    const folder = await bench.folder();
    const file = join(folder, 'organizations.yaml');
    const write = (list: unknown) => writeFile(file, stringify({ organizations: list }));
    await write(organizations());
    const service = await startExporter(bench, { organizationsFile: './organizations.yaml' }, { folder });
    const { jobId } = await service.export();
    const [acme, ...others] = organizations();
    await write([{ ...acme, keys: [adminKey('ci', 'svc_next')], domains: { acme: {}, second: acme?.domains } }]);
    // An invalid file changes nothing.
    await service.daemon.until(({ lastReload }) => lastReload?.ok === false);
    expect((await service.job(jobId)).status).toBe('completed');

    await write([{ ...acme, keys: [adminKey('ci', 'svc_next')] }, ...others]);
    await service.daemon.until(({ lastReload }) => lastReload?.ok === true);
    expect((await problemOf(await service.call('GET', `/v1/static-export/jobs/${jobId}`))).status).toBe(401);
    const next = service.as('svc_next');
    expect((await next.job(jobId)).status).toBe('completed');

    await write([{ ...acme, plan: 'team', keys: [adminKey('ci', 'svc_next')] }, ...others]);
    await service.daemon.until(({ lastReload }) => lastReload?.ok === true);
    const refused = await retry(() => next.call('GET', `/v1/static-export/jobs/${jobId}`), 403);
    expect(refused).toBe(403);
  });

  test('applies a new path of a source from the next job on', async () => {
    const service = await startExporter(bench);
    const before = await service.export();
    await writeFiles(join(service.daemon.folder, 'other'), { 'index.html': '<!doctype html><title>Other</title>' });
    await service.daemon.rewriteConfig({ organizations: organizations({ kind: 'folder', path: './other' }) });
    await service.daemon.until(({ lastReload }) => lastReload?.ok === true);
    const after = await service.export();
    expect([before.pageCount, after.pageCount]).toEqual([2, 1]);
    expect([...(await filesOfJob(bench, service, after.jobId)).keys()]).toContain('index.html');
  });

  test('fails the queued job of a domain that moves to another organization', async () => {
    const { config, open } = await blockJobs();
    const service = await startExporter(bench, config);
    const [running, waiting] = [await service.start(), await service.start('acme', { version: 'v2' })];
    await service.until(running.jobId, ({ status }) => status === 'running');
    const [acme, globex, team] = organizations();
    const moved = [
      { ...acme, domains: { bare: {} } },
      { ...globex, domains: { ...(globex?.domains as object), ...(acme?.domains as object), bare: undefined } },
      team,
    ].map((each) => JSON.parse(JSON.stringify(each)) as object);
    await service.daemon.rewriteConfig({ organizations: moved });
    await service.daemon.until(({ lastReload }) => lastReload?.ok === true);
    open();
    expect(await service.ended(waiting.jobId)).toMatchObject({ status: 'failed', error: expect.any(String) });
    expect(
      (await problemOf(await service.as(KEYS.globex).call('GET', `/v1/static-export/jobs/${waiting.jobId}`))).status,
    ).toBe(404);
  });
});

test.each([
  ['1h', false],
  ['{ completed: 1 }', true],
])(
  'the export service with retention %s removes old jobs with their files, but never the newest completed job of a domain',
  async (retention, keepsFailed) => {
    const clock = join(await bench.folder(), 'clock');
    const env = withClock(clock);
    const first = await startExporter(bench, {}, { env });
    const old = await first.export();
    await writeFiles(join(first.daemon.folder, 'site'), { 'new.html': '<!doctype html><title>New</title>' });
    const kept = await first.export();
    const canceled = await first.cancel((await first.start()).jobId);
    await first.ended(canceled.jobId);
    const { sha256 } = await first.bundle(kept.jobId);
    expect((await stored(first)).bundles).toHaveLength(2);
    expect(await first.daemon.stop()).toBe(0);

    // Longer than unused files stay: a job can run for 7 days.
    setClock(clock, 10 * 24 * 3_600_000);
    const config = await readFile(first.daemon.configFile, 'utf8');
    await writeFile(first.daemon.configFile, config.replace('exportApi:', `exportApi:\n  retention: ${retention}`));
    const second = await startAgain(bench, first, env);
    const left = async () => (await second.jobs()).jobs.map(({ jobId }) => jobId);
    await expect.poll(left, { timeout: 60_000 }).toEqual(keepsFailed ? [canceled.jobId, kept.jobId] : [kept.jobId]);
    expect((await problemOf(await second.call('GET', `/v1/static-export/jobs/${old.jobId}`))).status).toBe(404);
    await expect.poll(async () => (await stored(second)).bundles, { timeout: 60_000 }).toEqual([`${sha256}.tar.gz`]);
    await expect.poll(async () => (await stored(second)).manifests.length, { timeout: 60_000 }).toBe(1);
    // The remaining files are enough to pack the bundle again.
    await rm(join(second.daemon.dataDir, 'exports/bundles', `${sha256}.tar.gz`));
    expect((await second.bundle(kept.jobId)).sha256).toBe(sha256);
  },
);

/** Repeats a request for some seconds until the response has that status. @returns the last status */
async function retry(send: () => Promise<Response>, status: number): Promise<number> {
  for (let n = 0; n < 100; n++) {
    if ((await send()).status === status) return status;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return (await send()).status;
}
