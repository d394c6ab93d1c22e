import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DocshelfError } from '../../src/domain/errors.ts';
import { writeFileTable } from '../../src/files/index.ts';
import { CarriedAttempts } from '../../src/search/bundle-data/carried-attempts.ts';
import { BundleSearchWriter } from '../../src/search/bundle-data/write-bundle-search.ts';
import { EmbeddedEngine, EmbeddedIndex, type SearchEvent, SiteSearch } from '../../src/search/index.ts';
import { waitFor } from '../helpers/wait-for.ts';

const MIB = 1024 ** 2;
const NEVER = new AbortController().signal;
const DIGEST = 'ab'.repeat(32);

let dir: string;
let releaseDir: string;
let engine: EmbeddedEngine;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'docshelf-carried-'));
  releaseDir = join(dir, 'releases', DIGEST);
  start();
});
afterEach(async () => {
  await engine.stop();
  await rm(dir, { recursive: true });
});

function start(memoryBytesMax = 384 * MIB): void {
  const model = async () => ({ choice: { kind: 'folder' as const, folder: dir }, embedder: null });
  engine = new EmbeddedEngine({ model, modelFolder: null, cacheDir: join(dir, 'vectors'), memoryBytesMax });
}

async function restart(memoryBytesMax?: number): Promise<void> {
  await engine.stop();
  start(memoryBytesMax);
}

function site() {
  const events: SearchEvent[] = [];
  const onEvent = (event: SearchEvent) => void events.push(event);
  const search = new SiteSearch({ index: new EmbeddedIndex(engine), isSemantic: false, embedAfterMs: 0, onEvent });
  const filter = { version: null, language: null, tag: null };
  const request = { query: 'lantern', pageSize: 1, scoreThreshold: null, prefixLast: false, filter };
  return {
    search,
    refusals: () => events.flatMap((event) => (event.kind === 'refused' ? [event.error.code] : [])),
    /** The text that the index has, once it is there. */
    follow: async () => {
      search.follow({ digest: DIGEST, releaseDir, trailingSlash: 'never' }, 'v1');
      await waitFor(
        () => (search.status.keyword === 'ready' ? true : null),
        () => JSON.stringify([search.status, events]),
      );
      return (await search.search(request)).results[0]?.content;
    },
  };
}

/** A page that says `Lantern of the page`, and sections that say so of the bundle. */
async function writeRelease(texts: Iterable<string>, pageBytes = 200, writtenFor = pageBytes): Promise<string> {
  const folder = join(releaseDir, '_docshelf/search');
  await rm(releaseDir, { recursive: true, force: true });
  await mkdir(join(releaseDir, 'site'), { recursive: true });
  await mkdir(folder, { recursive: true });
  const html = '<!doctype html><title>Home</title><main><h1>Home</h1><p>Lantern of the page.</p></main>';
  await writeFile(join(releaseDir, 'site/a.html'), html);
  const files = [{ path: 'a.html', size: pageBytes, sha256: DIGEST, type: 'text/html' }];
  await writeFileTable(releaseDir, files);
  const writer = new BundleSearchWriter(folder, writtenFor);
  const ofPage = { path: '/a', title: 'Home', headings: [], language: 'en', version: null, tags: [] };
  writer.writeSections(
    (function* () {
      for (const text of texts)
        yield { section: { ...ofPage, text }, passages: [{ start: 0, end: text.length }], embedded: false };
    })(),
  );
  writer.finish(null);
  return folder;
}

describe('search data of a bundle', { timeout: 120_000 }, () => {
  it('is used where it is sound, and nothing is said', async () => {
    await writeRelease(['Lantern of the bundle.']);
    const { search, follow, refusals } = site();
    expect(await follow()).toBe('Lantern of the bundle.');
    expect([search.notices, refusals()]).toEqual([[], []]);
  });

  it('is left aside where it is broken: the pages are indexed, it is said, and not tried again after a restart', async () => {
    const folder = await writeRelease(['Lantern of the bundle.']);
    await appendFile(join(folder, 'sections-1.jsonl'), '{}\n');
    const first = site();
    expect(await first.follow()).toBe('Lantern of the page.');
    expect(first.refusals()).toEqual(['bad_search_data']);
    expect(first.search.notices).toEqual([
      expect.stringMatching(/sections-1\.jsonl.*\(bad_search_data\).*indexed instead/),
    ]);

    // The same digest, as if it had been mended: only an attempt would find that out.
    await writeRelease(['Lantern of the bundle.']);
    await restart();
    const second = site();
    expect(await second.follow()).toBe('Lantern of the page.');
    expect(second.search.notices).toEqual(first.search.notices);
    second.search.forget();
    expect(second.search.notices).toEqual([]);
  });

  it('is left aside where reading it takes the memory that there is', async () => {
    await writeRelease(['Lantern of the bundle.']);
    await restart(20 * MIB);
    // The process is too small for the pages, too: only the refusal is looked at.
    await expect(
      new EmbeddedIndex(engine).build({ digest: DIGEST, releaseDir, trailingSlash: 'never' }, NEVER),
    ).rejects.toMatchObject({ code: 'worker_ended' });
    await restart();
    const { search, follow } = site();
    expect(await follow()).toBe('Lantern of the page.');
    expect(search.notices[0]).toContain('needs more than 20 MiB of memory (bad_search_data)');
  });

  it('is left aside where it says more than its pages can, however small it is', async () => {
    // Within the bound of bytes for a small page, and 2,000,000 terms: minutes of a processor.
    let word = 0;
    const words = (): string => Array.from({ length: 5_000 }, () => (word++).toString(36)).join(' ');
    await writeRelease(
      Array.from({ length: 400 }, () => `lantern ${words()}`),
      200,
      MIB * 100,
    );
    const { search, follow } = site();
    expect(await follow()).toBe('Lantern of the page.');
    expect(search.notices[0]).toMatch(/say more than pages of 200 bytes can \(bad_search_data\)/);
  });

  it('is read within the bound, however much of it there is', async () => {
    // Ninety megabytes, of which one section at a time is in memory.
    const piece = `lantern ${'x'.repeat(60_000)}`;
    await writeRelease(
      Array.from({ length: 1_500 }, () => piece),
      40 * MIB,
    );
    await restart(220 * MIB);
    const { search, follow } = site();
    await follow();
    expect([search.status.sections, search.notices]).toEqual([1_500, []]);
  });
});

describe('CarriedAttempts', () => {
  it('gives up after two that have not come to an end, and says so from then on', async () => {
    const folder = join(dir, 'attempts');
    const begin = () => new CarriedAttempts(folder).begin(DIGEST);
    expect([await begin(), await begin(), await begin(), await begin()]).toEqual([true, true, false, false]);
    expect(await new CarriedAttempts(folder).refusal(DIGEST)).toMatchObject({ code: 'bad_search_data' });
  });

  it('forgets what came to an end, and keeps what was refused', async () => {
    const attempts = new CarriedAttempts(join(dir, 'attempts'));
    await attempts.begin(DIGEST);
    await attempts.end(DIGEST);
    expect([await attempts.begin(DIGEST), await attempts.refusal(DIGEST)]).toEqual([true, null]);
    const refused = new DocshelfError('bad_search_data', 'Cannot use it').toPlain();
    await attempts.refuse(DIGEST, refused);
    expect([await attempts.begin(DIGEST), await attempts.refusal(DIGEST)]).toEqual([false, refused]);
  });
});
