import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ModelThreads } from '../../src/search/semantic/embedders.ts';
import { EmbeddingModel } from '../../src/search/semantic/model.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { watchThreads } from '../helpers/watch-threads.ts';

const MODEL = fileURLToPath(new URL('../../models/all-MiniLM-L6-v2', import.meta.url));

let threads: ReturnType<typeof watchThreads>;
beforeEach(() => {
  threads = watchThreads();
});
afterEach(() => threads.stop());

describe('ModelThreads (threads that compute vectors)', () => {
  it('returns the same vectors as the model in the main thread, and the same readable languages', async () => {
    const here = await EmbeddingModel.load(MODEL);
    const there = await ModelThreads.load(MODEL);
    const texts = ['rotate the signing keys', 'a link expires after an hour'];
    expect([there.digest, there.dims]).toEqual([here.digest, here.dims]);
    expect(await there.embedQuery(texts[0] as string)).toEqual(await here.embedQuery(texts[0] as string));
    expect(await there.embedPassages(texts)).toEqual(await here.embedPassages(texts));
    expect(['en', 'de', 'ja', 'no tag'].map((tag) => there.reads(tag))).toEqual([true, true, false, false]);
    await Promise.all([here.close(), there.close()]);
  });

  it('finishes pending requests on close, ends its thread, and starts no thread for later requests', async () => {
    const model = await ModelThreads.load(MODEL);
    const pending = Promise.all(Array.from({ length: 20 }, (_, at) => model.embedQuery(`question ${at}`)));
    await model.close();
    expect((await pending).map(({ length }) => length)).toEqual(Array(20).fill(model.dims));
    expect([threads.started.length, threads.alive()]).toEqual([1, 0]);
    await expect(model.embedQuery('one more')).rejects.toMatchObject({ code: 'embedder_failed' });
    expect(threads.started.length).toBe(1);
  });

  it('rejects pending requests of a thread that died, and starts a new thread for the next request', async () => {
    const model = await ModelThreads.load(MODEL);
    // The thread is idle, so it is not in native code.
    const ended = threads.started[0]?.terminate();
    await expect(model.embedQuery('lost')).rejects.toMatchObject({ code: 'embedder_failed' });
    await ended;
    expect((await model.embedQuery('found')).length).toBe(model.dims);
    await model.close();
  });

  it('rejects a request if the model is invalid, and ends the thread', async () => {
    const folder = join(newFolder(), 'damaged');
    mkdirSync(folder);
    cpSync(MODEL, folder, { recursive: true });
    writeFileSync(join(folder, 'onnx/model_quantized.onnx'), 'no graph');
    await expect(ModelThreads.load(folder)).rejects.toMatchObject({ code: 'model_invalid' });
    expect([threads.started.length, threads.alive()]).toEqual([1, 0]);
  });

  it('starts another thread, up to the limit, only if all existing threads are busy', async () => {
    const model = await ModelThreads.load(MODEL, 2);
    await model.embedPassages(['a link expires']);
    expect(threads.started.length).toBe(1);
    const texts = ['rotate the keys', 'a link', 'an hour'];
    const vectors = await Promise.all(texts.map(async (text) => (await model.embedPassages([text]))[0]));
    expect(threads.started.length).toBe(2);
    expect(await Promise.all(texts.map((text) => model.embedQuery(text)))).toEqual(vectors);
    await model.close();
    expect(threads.alive()).toBe(0);
  });
});
