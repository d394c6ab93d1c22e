import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Embedder, EmbedProgress } from '../../../src/search/ports.ts';
import { embedRelease, passageText } from '../../../src/search/semantic/embed-release.ts';
import { quantise } from '../../../src/search/semantic/vector-index.ts';
import { VectorTable } from '../../../src/search/semantic/vector-table.ts';
import { newFolder } from '../../helpers/new-folder.ts';

const DIMS = 32;
/** Vector that depends on the text. */
const vectorOf = (text: string) =>
  Float32Array.from({ length: DIMS }, (_, at) => (((text.codePointAt(at % text.length) ?? 0) % 17) - 8) / 40);

let dir: string;
let batches: string[][];
let progress: EmbedProgress[];
const embedder: Embedder = {
  digest: 'ab'.repeat(32),
  dims: DIMS,
  reads: () => true,
  embedQuery: async (text) => vectorOf(text),
  embedPassages: async (texts) => {
    batches.push([...texts]);
    return texts.map(vectorOf);
  },
};
/** Runs a step of a test before each batch. */
const embedderAfter = (step: () => unknown): Embedder => ({
  ...embedder,
  embedPassages: async (batch) => {
    await step();
    return embedder.embedPassages(batch);
  },
});
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
  dir = newFolder();
  batches = [];
  progress = [];
});

/** Null for a row without a vector. */
function written() {
  const table = VectorTable.open(join(dir, 'vectors.bin'), embedder.digest);
  if (table === null) throw new Error('there is no table');
  try {
    return {
      sections: [...table.sections],
      vectors: Array.from(table.sections, (_, row) => table.get(row)?.slice() ?? null),
    };
  } finally {
    table.close();
  }
}

describe('embedRelease() (vectors for the texts of a release)', () => {
  it('writes a vector for each passage, in order', async () => {
    const passages = [
      { section: 0, text: 'first' },
      { section: 0, text: 'first, second passage' },
      { section: 2, text: 'third' },
    ];
    await embedRelease(request(passages));
    const { sections, vectors } = written();
    expect(sections).toEqual([0, 0, 2]);
    expect(vectors).toEqual(passages.map(({ text }) => quantise(vectorOf(text))));
  });

  it('embeds only the changed texts of a second version, and each text once', async () => {
    await embedRelease(request(texts('one', 'two', 'three')));
    batches = [];
    await embedRelease(request(texts('two', 'new', 'three', 'new')));
    expect(batches).toEqual([['new']]);
  });

  it('writes the vector of a repeated text in each of its rows, and embeds the text once', async () => {
    await embedRelease(request(texts('one', 'two', 'one', 'one')));
    const [one, two] = ['one', 'two'].map((text) => quantise(vectorOf(text)));
    expect(written().vectors).toEqual([one, two, one, one]);
    expect(batches.flat()).toEqual(['one', 'two']);
  });

  it('embeds the most important texts first, and writes each vector to its row', async () => {
    const all = texts('one', 'two', 'three');
    const onProgress = ({ embedded }: EmbedProgress) => {
      if (embedded === 1) expect(written().vectors.map((vector) => vector !== null)).toEqual([false, false, true]);
    };
    await embedRelease(request(all, { byImportance: () => all.toReversed(), batchSize: 1, onProgress }));
    expect(batches.flat()).toEqual(['three', 'two', 'one']);
    expect(written().vectors).toEqual(all.map(({ text }) => quantise(vectorOf(text))));
  });

  it('creates a new table if the same number of texts has other content, and reuses cached vectors', async () => {
    await embedRelease(request(texts('one', 'two')));
    batches = [];
    await embedRelease(request(texts('two', 'new')));
    expect(batches).toEqual([['new']]);
    expect(written().vectors).toEqual(['two', 'new'].map((text) => quantise(vectorOf(text))));
  });

  it('embeds as many batches concurrently as the option lanes allows', async () => {
    let [running, most] = [0, 0];
    const counting = embedderAfter(async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running -= 1;
    });
    const all = texts(...Array.from({ length: 20 }, (_, at) => `text ${at}`));
    await embedRelease(request(all, { embedder: counting, lanes: 3 }));
    expect(most).toBe(3);
    expect(written().vectors).toEqual(all.map(({ text }) => quantise(vectorOf(text))));
  });

  it('resumes with the remaining texts after an interruption', async () => {
    const stop = new AbortController();
    const stopping = embedderAfter(() => {
      if (batches.length === 2) stop.abort(new Error('stopped'));
      stop.signal.throwIfAborted();
    });
    const all = texts('a1', 'b2', 'c3', 'd4', 'e5');
    await expect(embedRelease(request(all, { embedder: stopping, signal: stop.signal }))).rejects.toThrow('stopped');
    // Completed vectors are usable at once.
    expect(written().vectors.map((vector) => vector !== null)).toEqual([true, true, true, true, false]);
    batches = [];
    await embedRelease(request(all));
    expect(batches).toEqual([['e5']]);
  });

  it('stops between batches when aborted', async () => {
    const stop = new AbortController();
    const onProgress = ({ embedded }: EmbedProgress) => {
      if (embedded === 2) stop.abort(new Error('stopped'));
    };
    const all = texts('a1', 'b2', 'c3', 'd4');
    await expect(embedRelease(request(all, { signal: stop.signal, onProgress }))).rejects.toThrow('stopped');
    expect(batches).toEqual([['a1', 'b2']]);
  });

  it('reports progress that never decreases and ends with all passages', async () => {
    await embedRelease(request(texts('a1', 'b2', 'a1', 'c3')));
    expect(progress[0]).toEqual({ passages: 4, embedded: 0 });
    expect(progress.at(-1)).toEqual({ passages: 4, embedded: 4 });
    const embedded = progress.map((each) => each.embedded);
    expect(embedded).toEqual([...embedded].sort((one, other) => one - other));
  });

  it('yields to other work between batches', async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    const slow = embedderAfter(() => {
      const until = performance.now() + 3;
      while (performance.now() < until);
    });
    await embedRelease(request(texts(...Array.from({ length: 20 }, (_, at) => `text ${at}`)), { embedder: slow }));
    clearInterval(timer);
    expect(turns).toBeGreaterThanOrEqual(5);
  });
});

describe('passageText()', () => {
  it('prepends title and headings, each once', () => {
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
