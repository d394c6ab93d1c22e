import { fork } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Embedder } from '../../src/search/ports.ts';
import { embedRelease } from '../../src/search/semantic/embed-release.ts';
import { tableOf } from '../search/table.ts';

/**
 * `node bench/growth/embedding.ts [passages...]`: memory of the records of an embedding, by default for 200,000, 600,000 and
 * 1,000,000 artificial passages, each in a separate process, with a stub as the model.
 */
const given = process.argv.slice(2).map(Number);
const SIZES = given.length > 0 ? given : [200_000, 600_000, 1_000_000];
const DIMS = 384;
const MIB = 1024 ** 2;
/** The same option as for the process that embeds (`heapWithin`). */
const YOUNG = '--max-semi-space-size=4';

const stub: Embedder = {
  digest: hash('sha256', 'stub'),
  dims: DIMS,
  reads: () => true,
  embedQuery: async (text) => vectorOf(text),
  embedPassages: async (texts) => texts.map(vectorOf),
};

function vectorOf(text: string): Float32Array {
  const bytes = hash('sha256', text, 'buffer');
  return Float32Array.from({ length: DIMS }, (_, at) => (((bytes[at % 32] ?? 0) ^ (at & 0xff)) - 127) / 2048);
}

function* passages(count: number) {
  for (let at = 0; at < count; at += 1)
    yield { section: at >>> 1, text: `Passage ${at} of a made-up site. `.repeat(8) };
}

async function embed(count: number) {
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-embedding-'));
  try {
    const before = process.memoryUsage.rss();
    const beganMs = performance.now();
    let embedded = 0;
    await embedRelease({
      passages: () => passages(count),
      ...{ embedder: stub, release: hash('sha256', 'release'), signal: new AbortController().signal },
      cacheDir: join(folder, 'vectors'),
      file: join(folder, 'vectors.bin'),
      onProgress: (progress) => {
        embedded = progress.embedded;
      },
    });
    if (embedded !== count) throw new Error(`of ${count} passages ${embedded} are embedded`);
    return { before, peak: process.resourceUsage().maxRSS * 1024, seconds: (performance.now() - beganMs) / 1000 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function embedApart(count: number): ReturnType<typeof embed> {
  const child = fork(import.meta.filename, [String(count)], { execArgv: [YOUNG] });
  const [taken] = await once(child, 'message');
  return taken;
}

if (process.send !== undefined) process.send(await embed(SIZES[0] ?? 0));
else {
  const rows: string[][] = [];
  for (const count of SIZES) {
    const { before, peak, seconds } = await embedApart(count);
    const mib = (bytes: number): string => (bytes / MIB).toFixed(0);
    const each = ((peak - before) / count).toFixed(0);
    rows.push([count.toLocaleString('en'), mib(before), mib(peak), each, seconds.toFixed(0)]);
  }
  const head = ['passages', 'before, MiB', 'peak, MiB', 'more, bytes a passage', 'time, s'];
  console.log(`Load ${loadavg()[0]?.toFixed(1)}\n\n${tableOf(head, rows)}`);
}
