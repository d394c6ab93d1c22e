import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EmbeddingModel } from '../../../src/search/semantic/model.ts';
import { COMMON_SCALE, measureScale } from '../../../src/search/semantic/vector-index.ts';
import { newFolder } from '../../helpers/new-folder.ts';

const BUILTIN = join(import.meta.dirname, '../../../models/all-MiniLM-L6-v2');
const dot = (one: Float32Array, other: Float32Array) =>
  one.reduce((sum, value, at) => sum + value * (other[at] as number), 0);

describe('built-in embedding model', () => {
  let model: EmbeddingModel;
  beforeAll(async () => {
    model = await EmbeddingModel.load(BUILTIN);
  });
  afterAll(() => model.close());

  it('computes the published vector of the example sentence, within int8 accuracy', async () => {
    const vector = await model.embedQuery('This is an example sentence');
    expect(model.dims).toBe(384);
    for (const [at, published] of [0.0677, 0.0635, 0.0487].entries()) {
      expect(Math.abs((vector[at] as number) - published)).toBeLessThan(0.02);
    }
  });

  it('returns vectors of length 1', async () => {
    const [vector] = await model.embedPassages(['Keys are rotated once a month.']);
    expect(dot(vector as Float32Array, vector as Float32Array)).toBeCloseTo(1, 5);
  });

  it('ranks a text with the same meaning before a text with the same words', async () => {
    const query = await model.embedQuery('the site is slow');
    const [same, words] = await model.embedPassages([
      'Improve the performance: cache pages and compress them.',
      'The archaeological site lies beside a slow river.',
    ]);
    expect(dot(query, same as Float32Array)).toBeGreaterThan(dot(query, words as Float32Array) + 0.1);
  });

  it('returns the same vector for a text alone and for the same text in a batch', async () => {
    const text = 'The cache is emptied when the daemon starts.';
    const [alone] = await model.embedPassages([text]);
    const among = await model.embedPassages(['x '.repeat(200), text, 'A heading']);
    expect(among[1]).toEqual(alone);
  });

  it('truncates a text that exceeds the input length of the model', async () => {
    const head = 'Install the package with npm. '.repeat(60);
    const [whole, cut] = await model.embedPassages([head, head + 'bananas '.repeat(20_000)]);
    expect(cut).toEqual(whole);
  });

  it('returns a vector for text without words', async () => {
    for (const text of ['', ' ', '\0', '😀', '\ud800']) expect(await model.embedQuery(text)).toHaveLength(384);
  });

  it('reads languages in Latin script, and no other languages', () => {
    for (const language of ['en', 'de', 'pt-BR', 'und-Latn', null]) expect(model.reads(language)).toBe(true);
    for (const language of ['ja', 'zh-CN', 'ko', 'ru', 'fa', 'und-Hani', 'no language', '']) {
      expect(model.reads(language)).toBe(false);
    }
  });

  it('defines the cosine scale to which docshelf maps the cosines of other models', async () => {
    const { related, unrelated } = await measureScale(model);
    expect(Math.abs(related - COMMON_SCALE.related)).toBeLessThan(0.02);
    expect(Math.abs(unrelated - COMMON_SCALE.unrelated)).toBeLessThan(0.02);
  });

  it('has the same digest each time it is loaded', async () => {
    const again = await EmbeddingModel.load(BUILTIN);
    await again.close();
    expect(again.digest).toBe(model.digest);
  });
});

describe('EmbeddingModel.load()', () => {
  let folder: string;
  beforeAll(async () => {
    folder = newFolder();
    await cp(BUILTIN, folder, { recursive: true });
  });

  const refusal = async () => {
    const error = await EmbeddingModel.load(folder).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    return error as { code: string; fields: { file: string } };
  };

  it('rejects a folder that does not exist', async () => {
    await expect(EmbeddingModel.load(join(folder, 'none'))).rejects.toMatchObject({ code: 'model_invalid' });
  });

  it.each([
    ['tokenizer.json', '{'],
    ['tokenizer.json', '{"model": {"type": "none"}}'],
    ['tokenizer_config.json', '"text"'],
    ['1_Pooling/config.json', '{"pooling_mode_weightedmean_tokens": true}'],
    ['onnx/model_quantized.onnx', 'no graph'],
  ])('names the file %s in the error if this file contains %s', async (name, content) => {
    const file = join(folder, name);
    const pooling = join(folder, '1_Pooling');
    await mkdir(pooling, { recursive: true });
    await writeFile(file, content);
    expect(await refusal()).toMatchObject({ code: 'model_invalid', fields: { file } });
    await rm(pooling, { recursive: true });
    await cp(BUILTIN, folder, { recursive: true });
  });

  it.each(['tokenizer.json', 'tokenizer_config.json', 'onnx/model_quantized.onnx'])(
    'rejects a folder without %s',
    async (name) => {
      await rm(join(folder, name));
      expect((await refusal()).code).toBe('model_invalid');
      await cp(BUILTIN, folder, { recursive: true });
    },
  );

  it('uses the prompts of a model, and includes them in its digest', async () => {
    const prompts = { query: 'rotate keys: ', document: '' };
    await writeFile(join(folder, 'config_sentence_transformers.json'), JSON.stringify({ prompts }));
    const [own, builtin] = [await EmbeddingModel.load(folder), await EmbeddingModel.load(BUILTIN)];
    expect(own.digest).not.toBe(builtin.digest);
    expect(await own.embedQuery('monthly')).toEqual(await builtin.embedQuery('rotate keys: monthly'));
    await Promise.all([own.close(), builtin.close()]);
  });
});
