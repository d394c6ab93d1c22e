import { describe, expect, it } from 'vitest';
import type { Embedder } from '../../src/search/ports.ts';
import { EmbedLanes } from '../../src/search/processes/embed-lanes.ts';
import { ModelPool } from '../../src/search/semantic/model-pool.ts';

const MIB = 1024 ** 2;

describe('EmbedLanes', () => {
  it('leaves a core, and has no more models than its memory holds', () => {
    const max = (cores: number, mib: number) => new EmbedLanes(cores, mib * MIB).max;
    expect([max(1, 4096), max(2, 4096), max(8, 4096), max(8, 384), max(8, 64)]).toEqual([1, 1, 7, 2, 1]);
  });

  it('is one while somebody reads, and all again half a minute later', () => {
    const lanes = new EmbedLanes(8, 4096 * MIB);
    expect(lanes.now(0)).toBe(7);
    lanes.noteRead(1_000);
    expect([lanes.now(1_000), lanes.now(30_999), lanes.now(31_000)]).toEqual([1, 1, 7]);
  });
});

describe('ModelPool', () => {
  /** A model that answers when it is told to, with its number. */
  function models() {
    const open: PromiseWithResolvers<void>[] = [];
    const closed: number[] = [];
    let loaded = 0;
    const load = async (): Promise<Embedder> => {
      loaded += 1;
      const number = loaded;
      const answer = async () => {
        const turn = Promise.withResolvers<void>();
        open.push(turn);
        await turn.promise;
        return Float32Array.of(number);
      };
      return {
        ...{ digest: 'a', dims: 32, reads: () => true, embedQuery: answer },
        embedPassages: async () => [await answer()],
        close: async () => void closed.push(number),
      };
    };
    return { load, open, closed, loaded: () => loaded };
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('loads another model only while all are at work, and no more than it may', async () => {
    const { load, open, closed, loaded } = models();
    const pool = await ModelPool.load(load, 2);
    const first = pool.embedPassages(['a']);
    await turn();
    open.shift()?.resolve();
    expect(await first).toEqual([Float32Array.of(1)]);
    expect(loaded()).toBe(1);

    const all = ['a', 'b', 'c'].map((text) => pool.embedPassages([text]));
    await turn();
    expect([loaded(), open.length]).toEqual([2, 2]);
    for (let left = 3; left > 0; left -= 1) {
      open.shift()?.resolve();
      await turn();
    }
    expect(new Set((await Promise.all(all)).map(([vector]) => vector?.[0]))).toEqual(new Set([1, 2]));
    await pool.close();
    expect(closed.sort()).toEqual([1, 2]);
  });

  it('goes on with a model whose text failed', async () => {
    const { load, open } = models();
    const pool = await ModelPool.load(load, 1);
    const failing = pool.embedQuery('a');
    await turn();
    const next = pool.embedQuery('b');
    open.shift()?.reject(new Error('no answer'));
    await expect(failing).rejects.toThrow('no answer');
    await turn();
    open.shift()?.resolve();
    expect(await next).toEqual(Float32Array.of(1));
  });
});
