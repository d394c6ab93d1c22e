import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { PageThreads } from '../../src/crawl/pages/page-threads.ts';
import { unpackInThreads } from '../../src/deploy/import/unpack-thread.ts';
import { ARCHIVE_LIMITS } from '../../src/domain/limits.ts';
import { openSqliteJobQueue } from '../../src/export/jobs/queue/sqlite.ts';
import { openJobThread } from '../../src/export/jobs/run-job.ts';
import { writeFileTable } from '../../src/files/index.ts';
import { PasswordCheck } from '../../src/http/sign-in/basic-passwords.ts';
import { isTransient } from '../../src/net/retry.ts';
import { BundleSearchMaker } from '../../src/search/bundle-data/bundle-search-maker.ts';
import type { EmbeddedEngine } from '../../src/search/index.ts';
import type { Embedder } from '../../src/search/ports.ts';
import { ModelThreads } from '../../src/search/semantic/embedders.ts';
import { HEAPS, type Heap } from '../../src/threads/index.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { packTarGz } from '../helpers/pack-tar-gz.ts';
import { watchThreads, workerProcesses } from '../helpers/watch-threads.ts';
import { engineOf, searchOf } from '../search/searched-site.ts';

/** Each kind of thread and process reaches its memory limit. This process continues and reports it, and the next one works. */

/** Less than any of our modules needs, and enough for V8 to start. Below 3, V8 ends the whole process. */
const TOO_SMALL: Heap = { maxOldGenerationSizeMb: 6, maxYoungGenerationSizeMb: 1 };
const MODEL = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2');
const NEVER = new AbortController().signal;
const MIB = 1024 ** 2;

let dir: string;
let threads: ReturnType<typeof watchThreads>;
beforeEach(async () => {
  dir = newFolder();
  threads = watchThreads();
});
afterEach(async () => {
  await expect.poll(() => threads.alive()).toBe(0);
  threads.stop();
});

/** Shrinks the heap until the returned function is called. */
function shrink(kind: keyof typeof HEAPS): () => void {
  const heaps = HEAPS as Record<string, Heap>;
  const sound = heaps[kind] as Heap;
  const restore = (): void => void Object.assign(heaps, { [kind]: sound });
  Object.assign(heaps, { [kind]: TOO_SMALL });
  onTestFinished(restore);
  return restore;
}

const DIED = {
  code: 'worker_ended',
  message: expect.stringMatching(/^Cannot .*: its .* needs more than [68] MiB of memory$/),
};

describe('A thread that exceeds its heap limit', () => {
  it('causes only the import of the archive that it unpacks to fail', async () => {
    const archive = join(dir, 'site.tar.gz');
    await packTarGz({ files: [{ path: 'index.html', bytes: Buffer.from('<title>Home</title>') }], to: archive });
    const unpack = async (name: string) => {
      const releaseDir = join(dir, name);
      await mkdir(releaseDir);
      const order = {
        archive,
        name,
        releaseDir,
        limits: ARCHIVE_LIMITS,
        isVerified: false,
        foldsCase: false,
        isIndexed: false,
        linkTo: [],
      };
      return unpackInThreads()(order, () => undefined, NEVER);
    };
    const restore = shrink('unpack');
    // docshelf rejects the archive as too large, because a retry would need as much memory.
    const refused = await unpack('small').catch((error: unknown) => error);
    expect(refused).toMatchObject({ ...DIED, code: 'total_too_large', next: expect.stringContaining('fewer') });
    expect(isTransient(refused)).toBe(false);
    restore();
    expect(await unpack('sound')).toMatchObject({ pages: 1 });
    // The thread waits a moment for the next bundle, and then ends by itself.
    await expect.poll(() => threads.alive()).toBe(0);
  });

  it('causes only the packing or the cleanup of exported files to fail', async () => {
    const entry = new URL('../../src/app/export-thread.ts', import.meta.url);
    const folders = {
      filesDir: join(dir, 'files'),
      manifestsDir: join(dir, 'manifests'),
      recordsDir: join(dir, 'records'),
    };
    for (const folder of Object.values(folders)) await mkdir(folder);
    const sweep = { keep: [], olderThanMs: 1e9, ...folders };
    const restore = shrink('job');
    const small = openJobThread(entry, NEVER);
    await expect(small.call('pack', { ...folders, contentSha256: '', to: '' })).rejects.toMatchObject(DIED);
    await expect(small.call('sweep', sweep)).rejects.toMatchObject(DIED);
    restore();
    const sound = openJobThread(entry, NEVER);
    await sound.call('sweep', sweep);
    await sound.terminate();
  });

  it('causes only the job of the crawl to fail, and the next job gets new threads', async () => {
    const scope = { origin: 'https://acme.test', prefix: '/', hosts: [] };
    const open = () => new PageThreads(1, { filesDir: join(dir, 'files'), scope });
    const content = Buffer.from('<title>Home</title>');
    const order = { url: 'https://acme.test/', type: 'html', charset: null, content } as const;
    const restore = shrink('pages');
    const small = open();
    await expect(small.call('read', order)).rejects.toMatchObject(DIED);
    await expect(small.call('read', order)).rejects.toMatchObject(DIED);
    await small.end();
    restore();
    const sound = open();
    expect((await sound.call('read', order)).content.size).toBe(content.length);
    await sound.end();
  });

  it('causes only the opening of the job queue to fail', async () => {
    const restore = shrink('queue');
    const file = join(dir, 'jobs.sqlite');
    await expect(openSqliteJobQueue({ file })).rejects.toMatchObject(DIED);
    restore();
    const queue = await openSqliteJobQueue({ file });
    expect(await queue.counts()).toEqual({ queued: 0, running: 0 });
    await queue.close();
  });

  it('causes only the loading of the model to fail', async () => {
    const restore = shrink('model');
    await expect(ModelThreads.load(MODEL)).rejects.toMatchObject({ code: 'embedder_failed' });
    restore();
    const model = await ModelThreads.load(MODEL);
    expect(await model.embedQuery('lantern')).toHaveLength(model.dims);
    await model.close();
  });

  it('causes only the password check to fail, and the next check of the same password succeeds', async () => {
    const check = new PasswordCheck();
    const right = '$2y$04$Nuq.jlV0goywBMrqjGx.LOsLa4Ecagy1IAw9MYcsF2wmiJv43N9ba';
    const holds = async () => check.holds('a', 'correct horse', [right]);
    const failing = expect(holds()).rejects.toMatchObject({ code: 'worker_ended' });
    // The event of a new thread arrives in the next tick.
    await setImmediate();
    const [worker] = threads.started;
    expect(worker?.resourceLimits).toMatchObject(HEAPS.passwords);
    await worker?.terminate();
    await failing;
    expect(await holds()).toBe(true);
    await check.end();
  });

  it('causes only the creation of search data for a bundle to fail', async () => {
    const siteDir = await writePages('site', 20);
    const files = filesOf(20);
    const vectorsOf = async (texts: readonly string[]) => texts.map(() => new Float32Array(32).fill(0.1));
    const embedder: Embedder = {
      ...{ digest: 'ab'.repeat(32), dims: 32, reads: () => true },
      embedQuery: async () => new Float32Array(32),
      embedPassages: vectorsOf,
    };
    const model = async () => ({ choice: { kind: 'parent' as const, digest: embedder.digest, dims: 32 }, embedder });
    const make = async (heap?: Heap) => {
      const into = await mkdtemp(join(dir, 'into-'));
      const maker = new BundleSearchMaker({ model, cacheDir: join(dir, 'vectors'), ...(heap && { heap }) });
      await maker.make({ siteDir, files }, into, () => undefined, NEVER);
    };
    await expect(make({ ...TOO_SMALL, maxOldGenerationSizeMb: 8 })).rejects.toMatchObject(DIED);
    await make();
  });
});

describe('The process that indexes and embeds', { timeout: 120_000 }, () => {
  const PAGES = 600;

  it('is killed if its memory exceeds search.memory, and its work is retried while other sites stay searchable', async () => {
    const sound = engineWith(384 * MIB);
    const release = await releaseOf('a', 1);
    const built = siteOf(sound);
    await built.search.index(release, NEVER);
    await sound.stop();

    const engine = engineWith(20 * MIB);
    onTestFinished(() => engine.stop());
    const [one, other] = [siteOf(engine), siteOf(engine)];
    other.search.switchTo(release, 'v1');
    one.search.switchTo(await releaseOf('b', PAGES), 'v1');
    // Wait for the errors of the first attempt and of the retry.
    await expect.poll(() => one.faults().length).toBeGreaterThanOrEqual(2);
    expect(new Set(one.faults())).toEqual(
      new Set(['worker_ended: Cannot build the search index: its process needs more than 20 MiB of memory']),
    );
    expect(await other.found('lantern')).toContain('lantern');
    await engine.stop();
  });

  it('is started again if it is killed during a build, and then completes the index', async () => {
    const engine = engineWith(384 * MIB);
    onTestFinished(() => engine.stop());
    const release = await releaseOf('a', PAGES);
    const { search, faults, until } = siteOf(engine);
    search.switchTo(release, 'v1');
    await expect.poll(() => workerProcesses()).toHaveLength(1);
    for (const pid of workerProcesses()) process.kill(pid, 'SIGKILL');
    await until('keyword');
    expect(search.status.sections).toBe(PAGES);
    expect(faults()).toEqual(['worker_ended: Cannot build the search index: its process was ended by SIGKILL']);
    await engine.stop();
  });

  it('is started again if it is killed while it embeds, and keyword search stays available', async () => {
    const engine = engineWith(384 * MIB);
    onTestFinished(() => engine.stop());
    const { search, faults, found, until } = siteOf(engine, { isSemantic: true });
    search.switchTo(await releaseOf('a', 120), 'v1');
    await expect.poll(() => search.status.embedded).toBeGreaterThan(0);
    for (const pid of workerProcesses()) process.kill(pid, 'SIGKILL');
    expect(await found('lantern')).toContain('lantern');
    await until('semantic');
    expect(faults()).toEqual(['worker_ended: Cannot embed the search index: its process was ended by SIGKILL']);
    await engine.stop();
  });

  const engineWith = (memoryBytesMax: number) => engineOf(join(dir, 'vectors'), MODEL, { memoryBytesMax });

  function siteOf(engine: EmbeddedEngine, { isSemantic = false } = {}) {
    const made = searchOf(engine, { isSemantic, againAfterMs: 10 });
    const faults = () =>
      made.events.flatMap((event) => (event.kind === 'failed' ? [`${event.error.code}: ${event.error.message}`] : []));
    return { ...made, faults };
  }
});

const filesOf = (pages: number) =>
  Array.from({ length: pages }, (_, at) => ({
    path: `p${String(at).padStart(4, '0')}.html`,
    size: 300,
    sha256: 'a'.repeat(64),
    type: 'text/html',
  }));

async function writePages(folder: string, pages: number): Promise<string> {
  const siteDir = join(dir, folder);
  await mkdir(siteDir, { recursive: true });
  for (const [at, { path }] of filesOf(pages).entries()) {
    const html = `<!doctype html><html lang="en"><title>Page ${at}</title><main><h1>Page ${at}</h1><p>A lantern, number ${at}.</p></main>`;
    await writeFile(join(siteDir, path), html);
  }
  return siteDir;
}

async function releaseOf(name: string, pages: number) {
  const releaseDir = join(dir, 'releases', name.repeat(64));
  await writePages(`releases/${name.repeat(64)}/site`, pages);
  await writeFileTable(releaseDir, filesOf(pages));
  return { digest: name.repeat(64), releaseDir, trailingSlash: 'never' as const };
}
