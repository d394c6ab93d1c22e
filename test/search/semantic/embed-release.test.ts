import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Embedder } from '../../../src/search/ports.ts';
import { type EmbedProgress, embedRelease, passageText, readVectors } from '../../../src/search/semantic/index.ts';
import { quantise } from '../../../src/search/semantic/quantise.ts';

const DIMS = 32;
/** A vector that depends on the text. */
const vectorOf = (text: string) =>
  Float32Array.from({ length: DIMS }, (_, at) => (((text.codePointAt(at % text.length) ?? 0) % 17) - 8) / 40);

let dir: string;
let asked: string[][];
let progress: EmbedProgress[];
const embedder: Embedder = {
  digest: 'ab'.repeat(32),
  dims: DIMS,
  reads: () => true,
  embedQuery: async (text) => vectorOf(text),
  embedPassages: async (texts) => {
    asked.push([...texts]);
    return texts.map(vectorOf);
  },
};
const texts = (...all: string[]) => all.map((text, section) => ({ section, text }));

function request(passages: ReturnType<typeof texts>, more: object = {}) {
  return {
    passages: () => passages,
    embedder,
    release: '1'.repeat(64),
    cacheDir: join(dir, 'vectors'),
    file: join(dir, 'vectors.bin'),
    batchSize: 2,
    signal: new AbortController().signal,
    onProgress: (each: EmbedProgress) => {
      progress.push(each);
    },
    ...more,
  };
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'docshelf-embed-'));
  asked = [];
  progress = [];
});
afterEach(() => rm(dir, { recursive: true, force: true }));

describe('embedRelease()', () => {
  it('writes a vector for each passage, in their order', async () => {
    const passages = [
      { section: 0, text: 'first' },
      { section: 0, text: 'first, second passage' },
      { section: 2, text: 'third' },
    ];
    await embedRelease(request(passages));
    const vectors = await readVectors(join(dir, 'vectors.bin'), embedder.digest);
    expect(vectors?.sections).toEqual(Uint32Array.of(0, 0, 2));
    passages.forEach(({ text }, at) => {
      expect(vectors?.values.slice(at * DIMS, (at + 1) * DIMS)).toEqual(quantise(vectorOf(text)));
    });
  });

  it('embeds of a second version only what changed, and each text once', async () => {
    await embedRelease(request(texts('one', 'two', 'three')));
    asked = [];
    await embedRelease(request(texts('two', 'new', 'three', 'new')));
    expect(asked).toEqual([['new']]);
  });

  it('goes on after an interruption with what was not done', async () => {
    const stop = new AbortController();
    const stopping: Embedder = {
      ...embedder,
      embedPassages: async (batch) => {
        if (asked.length === 2) stop.abort(new Error('stopped'));
        stop.signal.throwIfAborted();
        return embedder.embedPassages(batch);
      },
    };
    const all = texts('a1', 'b2', 'c3', 'd4', 'e5');
    await expect(embedRelease(request(all, { embedder: stopping, signal: stop.signal }))).rejects.toThrow('stopped');
    expect(await readdir(dir)).toEqual(['vectors']);
    asked = [];
    await embedRelease(request(all));
    expect(asked).toEqual([['e5']]);
  });

  it('stops between batches when it is told to', async () => {
    const stop = new AbortController();
    const onProgress = ({ embedded }: EmbedProgress) => {
      if (embedded === 2) stop.abort(new Error('stopped'));
    };
    const all = texts('a1', 'b2', 'c3', 'd4');
    await expect(embedRelease(request(all, { signal: stop.signal, onProgress }))).rejects.toThrow('stopped');
    expect(asked).toEqual([['a1', 'b2']]);
  });

  it('tells its progress, which never falls and ends with all', async () => {
    await embedRelease(request(texts('a1', 'b2', 'a1', 'c3')));
    expect(progress[0]).toEqual({ passages: 4, embedded: 0 });
    expect(progress.at(-1)).toEqual({ passages: 4, embedded: 4 });
    const embedded = progress.map((each) => each.embedded);
    expect(embedded).toEqual([...embedded].sort((one, other) => one - other));
  });

  it('lets other work have its turn between batches', async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    const slow: Embedder = {
      ...embedder,
      embedPassages: async (batch) => {
        const until = performance.now() + 3;
        while (performance.now() < until);
        return embedder.embedPassages(batch);
      },
    };
    await embedRelease(request(texts(...Array.from({ length: 20 }, (_, at) => `text ${at}`)), { embedder: slow }));
    clearInterval(timer);
    expect(turns).toBeGreaterThanOrEqual(5);
  });
});

describe('passageText()', () => {
  it('puts title and headings in front, each once', () => {
    const section = {
      path: '/guides/start#npm',
      title: 'Start',
      headings: ['Start', 'Install', 'npm'],
      text: 'Run it. Then go on.',
      language: 'en',
      version: null,
      tags: [],
    };
    expect(passageText(section, { start: 8, end: 19 })).toBe('Start\nInstall\nnpm\nThen go on.');
  });
});
