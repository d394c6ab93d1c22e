import { hash, randomBytes, randomFillSync } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import { archiveOrder, type PackEntry, packBundle } from '../../src/archive/pack.ts';
import { BundleSearchMaker } from '../../src/search/bundle-data/bundle-search-maker.ts';
import { BundleVectorWriter } from '../../src/search/bundle-data/bundle-vectors.ts';
import { SEARCH_FOLDER } from '../../src/search/indexing/index-files.ts';
import type { Embedder } from '../../src/search/ports.ts';
import { readModelFiles } from '../../src/search/semantic/model-files.ts';
import { openBench } from '../../test/helpers/daemon.ts';
import { tableOf } from '../search/table.ts';
import { watchProcesses } from './processes.ts';
import { pagesOf } from './site.ts';

/**
 * `node bench/growth/carried.ts [pages]`, with a build: memory and time of a daemon that imports a bundle with vectors: hostile
 * ones of 77 and 176 MB for one small page, and those of a normal site, 10,000 pages by default. The vectors are artificial.
 * Linux only.
 */
const [honestPages = 10_000] = process.argv.slice(2).map(Number);
const TAKEN_MS_MAX = 1_800_000;
const MB = 1e6;
const MODEL = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2');
const DIMS = 384;
const KEY_BYTES = 32;
const { digest: modelDigest } = await readModelFiles(MODEL);

interface Case {
  readonly what: string;
  /** Writes pages and vectors to the folder. */
  readonly write: (folder: string) => Promise<void>;
}

const CASES: readonly Case[] = [
  ...[77, 176].map((megabytes) => ({
    what: `${megabytes} MB for one small page`,
    write: async (folder: string) => writeHostile(folder, megabytes * MB),
  })),
  { what: `an honest site of ${honestPages.toLocaleString('en')} pages`, write: writeHonest },
];

/** Vectors of texts that the page lacks. Random bytes do not compress, so the archive has the same size. */
function writeHostile(folder: string, bytes: number): void {
  const page = '<!doctype html><title>Home</title><main><h1>Home</h1><p>Small.</p></main>';
  writeAt(join(folder, 'site/index.html'), page);
  const writer = new BundleVectorWriter(searchFolder(folder), { modelDigest, dims: DIMS });
  for (let written = 0; written < bytes; written += KEY_BYTES + DIMS) {
    writer.add({ key: randomBytes(KEY_BYTES), vector: randomFillSync(new Int8Array(DIMS)) });
  }
  writer.finish();
}

async function writeHonest(folder: string): Promise<void> {
  const files = [];
  for (const { path, bytes } of pagesOf(honestPages, 1)) {
    writeAt(join(folder, 'site', path), bytes);
    files.push({ path, size: bytes.length, sha256: hash('sha256', bytes), type: 'text/html; charset=utf-8' });
  }
  const vectorOf = () => new Float32Array(DIMS).fill(DIMS ** -0.5);
  const embedder: Embedder = {
    ...{ digest: modelDigest, dims: DIMS, reads: () => true },
    embedQuery: async () => vectorOf(),
    embedPassages: async (texts) => texts.map(vectorOf),
  };
  const choice = { kind: 'parent' as const, digest: modelDigest, dims: DIMS };
  const maker = new BundleSearchMaker({ model: async () => ({ choice, embedder }), cacheDir: join(folder, 'vectors') });
  const siteDir = join(folder, 'site');
  await maker.make({ siteDir, files }, searchFolder(folder), () => undefined, new AbortController().signal);
}

function searchFolder(folder: string): string {
  const into = join(folder, 'search');
  mkdirSync(into);
  return into;
}

function writeAt(file: string, content: string | Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

function entriesOf(folder: string): PackEntry[] {
  const names = readdirSync(join(folder, 'site'), { recursive: true }) as string[];
  const carried = readdirSync(join(folder, 'search'));
  return [
    ...names.map((name) => ({ path: name, file: join(folder, 'site', name) })),
    ...carried.map((name) => ({ path: SEARCH_FOLDER + name, file: join(folder, 'search', name) })),
  ]
    .map(({ path, file }) => ({ path, file, info: statSync(file) }))
    .filter(({ info }) => info.isFile())
    .map(({ path, file, info }) => ({ path, file, size: info.size }))
    .sort(archiveOrder);
}

const rows: string[][] = [];
for (const { what, write } of CASES) {
  const ends: (() => Promise<void>)[] = [];
  const bench = openBench((end) => ends.push(end));
  try {
    const made = await bench.folder();
    await write(made);
    const archive = join(made, 'docs-v1.0.0.tar.gz');
    await packBundle({ entries: entriesOf(made), to: archive, level: 1 });
    const archiveMb = statSync(archive).size / MB;
    const daemon = await bench.start({ search: { model: 'builtin' }, log: { access: false } });
    const inbox = join(daemon.dataDir, 'inbox');
    await daemon.until(() => readdirSync(daemon.dataDir).includes('inbox'));
    const end = watchProcesses(daemon.pid);
    const beganMs = performance.now();
    await rename(archive, join(inbox, 'docs-v1.0.0.tar.gz'));
    const { search, notices } = await daemon.until(
      ({ active, search: { semantic } }) => active !== null && (semantic === 'ready' || semantic === 'failed'),
      TAKEN_MS_MAX,
    );
    const seconds = (performance.now() - beganMs) / 1000;
    const { daemonMiB, childrenMiB, sumMiB } = end();
    const memory = [daemonMiB, childrenMiB, sumMiB].map((mib) => mib.toFixed(0));
    const told = (notices ?? []).filter((notice) => notice.includes('bad_search_data')).join(' ');
    const result = `${search.semantic}, ${search.sections} sections${told === '' ? '' : `: ${told}`}`;
    rows.push([what, archiveMb.toFixed(0), ...memory, seconds.toFixed(1), result]);
    console.error(rows.at(-1)?.join(' | '));
    rmSync(made, { recursive: true });
  } finally {
    for (const end of ends) await end();
  }
}
const head = ['search data', 'archive, MB', 'daemon, MiB', 'child, MiB', 'both, MiB', 'seconds', 'search'];
console.log(`Load ${loadavg()[0]?.toFixed(1)}\n\n${tableOf(head, rows)}`);
