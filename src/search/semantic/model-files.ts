import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import { digestFile, ifThere, readIfThere } from '../../files/index.ts';

/** Modes of sentence-transformers' pooling module. */
export const POOLINGS = ['mean', 'cls', 'max', 'mean_sqrt_len', 'lasttoken'] as const;
export type Pooling = (typeof POOLINGS)[number];

export interface ModelFiles {
  readonly onnxFile: string;
  readonly tokenizer: object;
  readonly tokenizerConfig: object;
  readonly tokensMax: number;
  readonly pooling: Pooling;
  readonly prompts: { readonly query: string; readonly passage: string };
  readonly digest: string;
}

/** Maximum tokens of a text, because the time of a model grows with the square of the length. Passages have about 220 tokens. */
const TOKENS_MAX = 512;
/** Files by preference. Quantised graphs have a quarter of the size, three times the speed, and similar vectors (cosine 0.99). */
const ONNX_FILES =
  'onnx/model_quantized.onnx onnx/model_int8.onnx onnx/model.onnx model_quantized.onnx model.onnx'.split(' ');
const JSON_FILES = (
  'tokenizer.json tokenizer_config.json sentence_bert_config.json config_sentence_transformers.json ' +
  'config.json modules.json'
).split(' ');
/**
 * Version of the embedding method, part of each model's digest. Change it with each change to embedding, so that docshelf drops
 * old vectors.
 */
const RECIPE = 'docshelf-embedding-1';

type Json = Readonly<Record<string, unknown>>;

export async function readModelFiles(folder: string): Promise<ModelFiles> {
  const json = new Map<string, Json | readonly Json[] | null>();
  for (const name of JSON_FILES) json.set(name, await readJson(join(folder, name)));
  const required = (name: string): object => {
    const value = json.get(name);
    if (value === null || value === undefined) throw invalid(join(folder, name), 'it is missing');
    return value;
  };
  const object = (name: string): Json => (json.get(name) ?? {}) as Json;

  const tokenizerConfig = required('tokenizer_config.json') as Json;
  const poolingFile = await poolingFileOf(folder, json.get('modules.json') ?? null);
  const onnxFile = await findOnnx(folder);
  const prompts = (object('config_sentence_transformers.json').prompts ?? {}) as Json;
  const promptOf = (...names: readonly string[]): string => {
    const found = names.map((name) => prompts[name]).find((prompt) => typeof prompt === 'string');
    return (found as string | undefined) ?? '';
  };
  return {
    onnxFile,
    tokenizer: required('tokenizer.json'),
    tokenizerConfig,
    tokensMax: tokensMaxOf([
      object('sentence_bert_config.json').max_seq_length,
      tokenizerConfig.model_max_length,
      object('config.json').max_position_embeddings,
    ]),
    pooling: poolingFile === null ? 'mean' : poolingOf(poolingFile, await readJson(poolingFile)),
    prompts: { query: promptOf('query'), passage: promptOf('document', 'passage') },
    digest: await digestOf(folder, [
      ...JSON_FILES.map((name) => join(folder, name)),
      ...(poolingFile === null ? [] : [poolingFile]),
      ...(await withExternalData(onnxFile)),
    ]),
  };
}

export function invalid(file: string, state: string, cause?: unknown): DocshelfError {
  return new DocshelfError('model_invalid', `Cannot load the model file "${file}": ${state}`, {
    next: 'Set search.model to a folder in the sentence-transformers layout with an ONNX graph, or to builtin or off.',
    fields: { file },
    cause,
  });
}

const unreadable = (file: string) => (error: Error) => {
  throw invalid(file, error.message, error);
};

async function readJson(file: string): Promise<Json | null> {
  const text = await readIfThere(file).catch(unreadable(file));
  if (text === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(file, 'it is not JSON', error);
  }
  if (typeof value !== 'object' || value === null) throw invalid(file, 'it contains no JSON object');
  return value as Json;
}

async function findOnnx(folder: string): Promise<string> {
  const listings = await Promise.all(['onnx', ''].map((below) => onnxNames(folder, below)));
  const names = listings.flat();
  const known = ONNX_FILES.find((name) => names.includes(name));
  if (known !== undefined) return join(folder, known);
  const [only, another] = names;
  if (only === undefined) throw invalid(join(folder, 'onnx/model.onnx'), 'it is missing');
  if (another !== undefined)
    throw invalid(join(folder, only), `"${another}" is in the same folder, and neither is named model.onnx`);
  return join(folder, only);
}

async function onnxNames(folder: string, below: string): Promise<string[]> {
  try {
    const names = await readdir(join(folder, below));
    return names.filter((name) => name.endsWith('.onnx')).map((name) => (below === '' ? name : `${below}/${name}`));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' && below !== '') return [];
    throw invalid(join(folder, below), errnoOf(error) === 'ENOENT' ? 'there is no such folder' : String(error), error);
  }
}

async function withExternalData(onnxFile: string): Promise<string[]> {
  const names = await readdir(dirname(onnxFile));
  return names.filter((name) => name.startsWith(basename(onnxFile))).map((name) => join(dirname(onnxFile), name));
}

function tokensMaxOf(candidates: readonly unknown[]): number {
  // If a tokenizer has no limit, its `model_max_length` is 1e30.
  const found = candidates.find((value): value is number => Number.isInteger(value) && Number(value) > 2);
  return Math.min(found ?? TOKENS_MAX, TOKENS_MAX);
}

async function poolingFileOf(folder: string, modules: Json | readonly Json[] | null): Promise<string | null> {
  if (Array.isArray(modules)) {
    const pooling = (modules as readonly Json[]).find((module) => String(module.type).endsWith('Pooling'));
    const path = pooling?.path;
    return typeof path === 'string' && !path.includes('..') ? join(folder, path, 'config.json') : null;
  }
  const usual = join(folder, '1_Pooling', 'config.json');
  return (await readJson(usual)) === null ? null : usual;
}

function poolingOf(file: string, config: Json | null): Pooling {
  if (config === null) throw invalid(file, 'modules.json names this folder, but it is missing');
  const named = typeof config.pooling_mode === 'string' ? config.pooling_mode : null;
  const on = Object.keys(config).filter((key) => key.startsWith('pooling_mode_') && config[key] === true);
  const chosen = named ?? on.map((key) => key.replace(/^pooling_mode_|_tokens?$/g, '')).join('+');
  const pooling = POOLINGS.find((each) => each === chosen);
  if (pooling === undefined)
    throw invalid(file, `its pooling "${chosen}" is unknown; docshelf knows ${POOLINGS.join(', ')}`);
  return pooling;
}

async function digestOf(folder: string, files: readonly string[]): Promise<string> {
  const digest = createHash('sha256').update(RECIPE);
  for (const file of [...files].sort()) {
    const ofFile = await ifThere(digestFile(file)).catch(unreadable(file));
    if (ofFile !== null) digest.update(`${file.slice(folder.length)}\0${ofFile}\n`);
  }
  return digest.digest('hex');
}
