import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileEntry } from '../../src/domain/release.ts';
import { TABLE_FILE, writeFileTable } from '../../src/files/index.ts';
import { BundleSearchMaker, type BundleSearchMakerOptions } from '../../src/search/bundle-data/bundle-search-maker.ts';
import { BundleVectors } from '../../src/search/bundle-data/bundle-vectors.ts';
import type { Embedder } from '../../src/search/ports.ts';
import { VectorTable } from '../../src/search/semantic/vector-table.ts';
import { mediaTypeOf } from '../../src/web/media-type.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { untilAborted } from '../helpers/until-aborted.ts';
import { watchThreads, workerProcesses } from '../helpers/watch-threads.ts';
import { writeFiles } from '../helpers/write-files.ts';
import { engineOf } from './searched-site.ts';

const MODEL = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2');
const NEVER = new AbortController().signal;

const page = (title: string, body: string, lang = 'en') =>
  `<!doctype html><html lang="${lang}"><head><title>${title}</title></head><body><main><h1 id="top">${title}</h1>${body}</main></body></html>`;

/** Folder pages that are linked without their slash, two languages, and a page that is too long for one passage. */
const SITE: Readonly<Record<string, string>> = {
  'index.html': page('Welcome', '<p>The manual.</p><a href="/lantern">Lantern</a><a href="/bread">Bread</a>'),
  'lantern/index.html': page(
    'Lantern',
    '<p>It burns oil.</p><h2 id="wick">Wick</h2><p>Trim it.</p><a href="/bread">b</a>',
  ),
  'bread/index.html': page(
    'Bread',
    `<p>${Array.from({ length: 60 }, (_, at) => `Knead dough number ${at}, let it rise and bake it.`).join(' ')}</p>`,
  ),
  'ja/index.html': page('灯台', '<p>灯台の手引きです。</p>', 'ja'),
  'app.js': 'console.log(1)',
};

let dir: string;
let siteDir: string;
let threads: ReturnType<typeof watchThreads>;

beforeEach(async () => {
  dir = newFolder();
  siteDir = join(dir, 'release/site');
  threads = watchThreads();
});
afterEach(async () => {
  threads.stop();
});

/** Writes the site like unpacking does. */
async function writeSite(site = SITE): Promise<FileEntry[]> {
  const files: FileEntry[] = [];
  await writeFiles(siteDir, site);
  for (const [path, text] of Object.entries(site).sort(([a], [b]) => (a < b ? -1 : 1))) {
    files.push({
      path,
      size: Buffer.byteLength(text),
      sha256: Buffer.from(path).toString('hex').slice(0, 64),
      type: mediaTypeOf(path),
    });
  }
  await rm(join(dir, 'release', TABLE_FILE), { force: true });
  await writeFileTable(join(dir, 'release'), files);
  return files;
}

const builtin = async () => ({ choice: { kind: 'folder' as const, folder: MODEL }, embedder: null });

function makerOf(model: BundleSearchMakerOptions['model'], lanesMax = 1): BundleSearchMaker {
  return new BundleSearchMaker({ model, cacheDir: join(dir, 'vectors'), lanesMax });
}

/** The model of an endpoint in this thread. It counts texts. */
function countingModel(onTexts: (texts: number) => void = () => undefined) {
  const embedder: Embedder = {
    digest: 'ab'.repeat(32),
    dims: 32,
    reads: () => true,
    embedQuery: async () => new Float32Array(32),
    embedPassages: async (texts) => {
      onTexts(texts.length);
      return texts.map((text) =>
        Float32Array.from({ length: 32 }, (_, at) => (text.charCodeAt(at % text.length) % 7) / 20),
      );
    },
  };
  return async () => ({ choice: { kind: 'parent' as const, digest: embedder.digest, dims: 32 }, embedder });
}

/** A maker that counts the texts that it embeds. */
function countingMaker() {
  const counted = { texts: 0 };
  const model = countingModel((texts) => {
    counted.texts += texts;
  });
  return { counted, maker: makerOf(model) };
}

async function make(maker: BundleSearchMaker, files: readonly FileEntry[], name: string, signal = NEVER) {
  const into = join(dir, name);
  await mkdir(into);
  const progress: [number, number][] = [];
  await maker.make({ siteDir, files }, into, (done, total) => progress.push([done, total]), signal);
  const names = (await readdir(into)).sort();
  return {
    progress,
    files: Object.fromEntries(
      await Promise.all(names.map(async (each) => [each, await readFile(join(into, each))] as const)),
    ),
  };
}

function vectorsIn(searchDir: string, modelDigest: string) {
  const table = VectorTable.open(join(dir, searchDir, 'vectors.bin'), modelDigest);
  if (table === null) throw new Error('there is no table');
  try {
    return { sections: table.sections, rows: Array.from(table.rows(), ([row, vector]) => [row, vector.slice()]) };
  } finally {
    table.close();
  }
}

describe('BundleSearchMaker (creation of search data for a bundle)', () => {
  it('writes the same vectors that a deployment computes for the same pages', async () => {
    const files = await writeSite();
    const made = await make(makerOf(builtin), files, 'made');
    expect(Object.keys(made.files)).toEqual(['header.json', 'vectors-1.bin']);

    const engine = engineOf(join(dir, 'other-vectors'), MODEL);
    const release = { digest: 'cd'.repeat(32), releaseDir: join(dir, 'release'), trailingSlash: 'never' as const };
    await engine.build(release, NEVER);
    await engine.embed(release, () => undefined, NEVER);
    await engine.stop();

    const folder = join(dir, 'imported/_docshelf/search');
    await mkdir(folder, { recursive: true });
    for (const [name, bytes] of Object.entries(made.files)) await writeFile(join(folder, name), bytes);
    const carried = BundleVectors.open(join(dir, 'imported'));
    const texts = new Set(Array.from(carried?.records() ?? [], ({ vector }) => `${vector}`));
    const computed = vectorsIn('release/search', carried?.header.modelDigest ?? '');
    expect(computed.rows.length).toBeGreaterThan(4);
    expect(texts).toEqual(new Set(computed.rows.map(([, vector]) => `${vector}`)));
    expect(threads.alive()).toBe(0);
  });

  it('writes the same bytes for the same site, and embeds no text twice', async () => {
    const files = await writeSite();
    const { counted, maker } = countingMaker();
    const first = await make(maker, files, 'first');
    const total = first.progress.at(-1)?.[1] ?? 0;
    expect([first.progress.at(0), first.progress.at(-1)]).toEqual([
      [0, total],
      [total, total],
    ]);
    expect(counted.texts).toBe(total);
    const second = await make(maker, files.toReversed(), 'second');
    expect(second.files).toEqual(first.files);
    expect(counted.texts).toBe(total);
  });

  it('embeds up to `lanesMax` batches concurrently, and writes the same bytes as with one batch at a time', async () => {
    const files = await writeSite();
    const makeWith = async (lanesMax: number) => {
      let running = 0;
      let most = 0;
      const counting = await countingModel()();
      const embedPassages = async (texts: readonly string[]) => {
        running += 1;
        most = Math.max(most, running);
        await setTimeout(20);
        // A busy machine may be slow to send the next one.
        for (let waits = 0; most < lanesMax && waits < 100; waits += 1) await setTimeout(20);
        running -= 1;
        return counting.embedder.embedPassages(texts);
      };
      const model = async () => ({ ...counting, embedder: { ...counting.embedder, embedPassages } });
      await rm(join(dir, 'vectors'), { recursive: true, force: true });
      const made = await make(makerOf(model, lanesMax), files, `lanes-${lanesMax}`);
      return { most, files: made.files };
    };
    const [one, two] = [await makeWith(1), await makeWith(2)];
    expect([one.most, two.most]).toEqual([1, 2]);
    expect(two.files).toEqual(one.files);
  });

  it('embeds only the changed texts of a changed site', async () => {
    const { counted, maker } = countingMaker();
    await make(maker, await writeSite(), 'first');
    counted.texts = 0;
    await make(maker, await writeSite({ ...SITE, 'new.html': page('New', '<p>Something new.</p>') }), 'second');
    expect(counted.texts).toBe(1);
  });

  it('writes only a header if the model cannot read any language of the site', async () => {
    const made = await make(makerOf(builtin), await writeSite({ 'ja.html': SITE['ja/index.html'] ?? '' }), 'made');
    expect(Object.keys(made.files)).toEqual(['header.json']);
    expect(JSON.parse(made.files['header.json']?.toString() ?? '')).toMatchObject({ count: 0, shards: [] });
  });

  it('stops at its time limit without writing a file, and the next run continues', async () => {
    const files = await writeSite();
    const slow: typeof builtin = async () => {
      const { choice, embedder } = await countingModel()();
      const endless: Embedder = { ...embedder, embedPassages: (_, signal) => untilAborted(signal as AbortSignal) };
      return { choice, embedder: endless } as never;
    };
    const into = join(dir, 'late');
    await mkdir(into);
    const hasAll = await makerOf(slow).make({ siteDir, files }, into, () => undefined, NEVER, 200);
    expect(hasAll).toBe(false);
    expect(await readdir(into)).toEqual([]);
    expect(Object.keys((await make(makerOf(countingModel()), files, 'made')).files)).toEqual([
      'header.json',
      'vectors-1.bin',
    ]);
  });

  it('ends its process when aborted, and reuses the vectors of finished texts in the next run', async () => {
    const files = await writeSite(
      Object.fromEntries(
        Array.from({ length: 30 }, (_, at) => [`${at}.html`, page(`P ${at}`, `<p>Text number ${at}.</p>`)]),
      ),
    );
    const stop = new AbortController();
    const reason = new Error('canceled');
    let before = 0;
    const interrupted = makerOf(
      countingModel((texts) => {
        before += texts;
        if (before >= 12) stop.abort(reason);
      }),
    );
    await expect(make(interrupted, files, 'interrupted', stop.signal)).rejects.toBe(reason);
    expect(threads.alive()).toBe(0);
    expect(await readdir(join(dir, 'interrupted'))).not.toContain('header.json');
    expect(before).toBeLessThan(30);

    const { counted, maker } = countingMaker();
    await make(maker, files, 'again');
    expect(before + counted.texts).toBeGreaterThanOrEqual(30);
    expect(counted.texts).toBeLessThan(30);
  });

  it('ends cleanly when aborted while the built-in model runs', async () => {
    const files = await writeSite();
    const stop = new AbortController();
    const into = join(dir, 'into');
    await mkdir(into);
    const making = makerOf(builtin).make(
      { siteDir, files },
      into,
      () => stop.abort(new Error('canceled')),
      stop.signal,
    );
    await expect(making).rejects.toThrow('canceled');
    expect(threads.alive()).toBe(0);
  });

  it('ends cleanly when aborted while the model is still loading', async () => {
    const files = await writeSite();
    const stop = new AbortController();
    const into = join(dir, 'into');
    await mkdir(into);
    const making = makerOf(builtin).make({ siteDir, files }, into, () => undefined, stop.signal);
    const canceled = expect(making).rejects.toThrow('canceled');
    await expect.poll(() => workerProcesses()).toHaveLength(1);
    stop.abort(new Error('canceled'));
    await canceled;
    expect(threads.alive()).toBe(0);
    expect(await readdir(into)).toEqual([]);
  });

  it('rejects with the reason if the model is invalid', async () => {
    const noModel = async () => ({ choice: { kind: 'folder' as const, folder: dir }, embedder: null });
    await expect(make(makerOf(noModel), await writeSite(), 'made')).rejects.toMatchObject({ code: 'model_invalid' });
    const endpoint = countingModel(() => {
      throw new Error('the endpoint is gone');
    });
    await expect(make(makerOf(endpoint), await writeSite(), 'made-2')).rejects.toThrow('the endpoint is gone');
    expect(threads.alive()).toBe(0);
  });

  it('keeps the vector lists of releases and of the newest 50 exports in the vector cache', async () => {
    const maker = makerOf(countingModel());
    const uses = join(dir, 'vectors', 'ab'.repeat(32), 'uses');
    await mkdir(uses, { recursive: true });
    await writeFile(join(uses, 'ef'.repeat(32)), '');
    for (let at = 0; at < 60; at++) await writeFile(join(uses, `export-${at}`), '');
    await make(maker, await writeSite(), 'made');
    const names = await readdir(uses);
    expect(names).toContain('ef'.repeat(32));
    expect(names.filter((name) => name.startsWith('export-')).length).toBe(50);
  });
});
