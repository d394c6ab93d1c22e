import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Embedder, EmbedProgress } from '../ports.ts';
import type { Passage, Section } from '../section.ts';
import { quantise } from './quantise.ts';
import { noteUse } from './sweep-vectors.ts';
import { VectorCache } from './vector-cache.ts';
import { type Vectors, writeVectors } from './vector-file.ts';

export interface PassageText {
  readonly section: number;
  readonly text: string;
}

export interface EmbedRequest {
  /** By section, ascending. Called twice, so that texts need not be in memory together. */
  readonly passages: () => Iterable<PassageText>;
  readonly embedder: Embedder;
  readonly release: string;
  readonly cacheDir: string;
  readonly file: string;
  /** Texts between two looks at the signal: 80 ms of one core for 4 with the built-in model. */
  readonly batchSize?: number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: EmbedProgress) => void;
}

/** Interrupted at any point, it goes on from there. @throws what the embedder throws; the signal's reason */
export async function embedRelease(request: EmbedRequest): Promise<Vectors> {
  const { embedder, signal, onProgress, batchSize = 4 } = request;
  const keys: string[] = [];
  const sections: number[] = [];
  for (const { section, text } of request.passages()) {
    sections.push(section);
    keys.push(keyOf(text));
  }
  const cache = await VectorCache.open(request.cacheDir, embedder, keys);
  try {
    await noteUse(cache.folder, request.release, keys);
    let embedded = keys.filter((key) => cache.get(key) !== undefined).length;
    const tell = (): void => onProgress({ passages: keys.length, embedded });
    tell();
    for (const batch of batchesOf(missing(request.passages(), cache), batchSize)) {
      signal.throwIfAborted();
      const vectors = await embedder.embedPassages([...batch.values()], signal);
      await cache.put([...batch.keys()].map((key, at) => [key, quantise(vectors[at] as Float32Array)]));
      embedded += batch.size;
      tell();
      await setImmediate();
    }
    signal.throwIfAborted();
    const vectors = assemble(embedder, sections, keys, cache);
    await writeVectors(request.file, vectors);
    onProgress({ passages: keys.length, embedded: keys.length });
    return vectors;
  } finally {
    await cache.close();
  }
}

const keyOf = (text: string): string => hash('sha256', text);

/** Lazy: a text that stands twice is embedded once. */
function* missing(passages: Iterable<PassageText>, cache: VectorCache): Generator<[key: string, text: string]> {
  for (const { text } of passages) {
    const key = keyOf(text);
    if (cache.get(key) === undefined) yield [key, text];
  }
}

function* batchesOf(entries: Iterable<[string, string]>, size: number): Generator<Map<string, string>> {
  let batch = new Map<string, string>();
  for (const [key, text] of entries) {
    batch.set(key, text);
    if (batch.size < size) continue;
    yield batch;
    batch = new Map();
  }
  if (batch.size > 0) yield batch;
}

function assemble(
  embedder: Embedder,
  sections: readonly number[],
  keys: readonly string[],
  cache: VectorCache,
): Vectors {
  const { dims } = embedder;
  const values = new Int8Array(keys.length * dims);
  for (const [at, key] of keys.entries()) values.set(cache.get(key) as Int8Array, at * dims);
  return { modelDigest: embedder.digest, dims, sections: Uint32Array.from(sections), values };
}

export function passageText(section: Section, passage: Passage): string {
  const about = [...new Set([section.title, ...section.headings])].filter((heading) => heading !== '');
  return [...about, section.text.slice(passage.start, passage.end)].join('\n');
}
