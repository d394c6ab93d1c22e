import { hash } from 'node:crypto';
import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import { linkWithoutSecrets, type Secret } from '../../domain/secret.ts';
import { membersOf } from '../../domain/shape.ts';
import type { HttpClient } from '../../net/http-client.ts';
import type { Embedder } from '../ports.ts';

interface EmbeddingEndpointSettings {
  readonly url: string;
  readonly model: string;
  readonly key: Secret | null;
}

/** Maximum texts per request. The usual limits of such services are higher and allow at least 96 texts. */
const TEXTS_A_REQUEST_MAX = 64;
/** Maximum size of a response. 64 vectors of 4,096 numbers with 20 digits have 6 MB. */
const ANSWER_BYTES_MAX = 16 * 1024 ** 2;
const DIMS_MAX = 4096;

/**
 * Client of an OpenAI-compatible service: posts `{model, input: [text]}`, expects `{data: [{index, embedding}]}`. Does not retry.
 */
export class EmbeddingEndpoint implements Embedder {
  readonly digest: string;
  readonly dims: number;
  readonly #client: () => Promise<HttpClient>;
  readonly #settings: EmbeddingEndpointSettings;

  private constructor(client: () => Promise<HttpClient>, settings: EmbeddingEndpointSettings, dims: number) {
    this.#client = client;
    this.#settings = settings;
    this.dims = dims;
    // The digest omits the API key, which does not change the vectors. A service may change the weights without a new digest.
    this.digest = hash('sha256', JSON.stringify([settings.url, settings.model, dims]));
  }

  /**
   * Requests one vector to learn its length.
   * @param client function to call for each request, because a reload of the config replaces the client
   * @throws DocshelfError `embedder_failed`, `host_not_allowed`; the signal's reason if it aborts
   */
  static async connect(
    client: () => Promise<HttpClient>,
    settings: EmbeddingEndpointSettings,
    signal: AbortSignal,
  ): Promise<EmbeddingEndpoint> {
    const [vector] = await request(client, settings, ['documentation'], signal);
    const dims = vector?.length ?? 0;
    if (dims % 32 === 0) return new EmbeddingEndpoint(client, settings, dims);
    throw failed(settings, `its vectors have ${dims} numbers, which is not a multiple of 32`, false);
  }

  /** Assume that a hosted model can read all languages. It does not report its languages, and is usually multilingual. */
  reads(): boolean {
    return true;
  }

  async embedQuery(text: string, signal: AbortSignal = new AbortController().signal): Promise<Float32Array> {
    const [vector] = await this.embedPassages([text], signal);
    return vector as Float32Array;
  }

  async embedPassages(
    texts: readonly string[],
    signal: AbortSignal = new AbortController().signal,
  ): Promise<Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (let from = 0; from < texts.length; from += TEXTS_A_REQUEST_MAX) {
      const batch = texts.slice(from, from + TEXTS_A_REQUEST_MAX);
      vectors.push(...(await request(this.#client, this.#settings, batch, signal)));
    }
    const other = vectors.find((vector) => vector.length !== this.dims);
    if (other === undefined) return vectors;
    throw failed(
      this.#settings,
      `the length of its vectors changed from ${this.dims} to ${other.length} numbers`,
      false,
    );
  }
}

async function request(
  client: () => Promise<HttpClient>,
  settings: EmbeddingEndpointSettings,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const { url, model, key } = settings;
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(key === null ? {} : { authorization: `Bearer ${key.reveal()}` }),
  };
  const body = JSON.stringify({ model, input: texts, encoding_format: 'float' });
  let status: number;
  let text: string;
  try {
    const response = await (await client()).post(url, body, { headers, signal });
    status = response.status;
    text = await response.text(ANSWER_BYTES_MAX);
  } catch (error) {
    signal.throwIfAborted();
    const fault = toDocshelfError(error);
    if (!fault.code.startsWith('source_')) throw fault;
    throw failed(settings, fault.message.replace(/^[^:]*"[^"]*": /, ''), fault.fields.retryable === true, fault);
  }
  if (status === 401 || status === 403) throw failed(settings, `it rejects the key (${status})`, false);
  if (status !== 200) throw failed(settings, `it responds with ${status}`, status === 429 || status >= 500);
  return vectorsOf(settings, text, texts.length);
}

function vectorsOf(settings: EmbeddingEndpointSettings, text: string, count: number): Float32Array[] {
  const vectors: Float32Array[] = [];
  for (const [at, entry] of entriesOf(text).entries()) {
    const { index = at, embedding } = entry;
    const isVector = Array.isArray(embedding) && embedding.length > 0 && embedding.length <= DIMS_MAX;
    if (!isVector || !Number.isInteger(index) || index < 0 || index >= count || !embedding.every(Number.isFinite)) {
      throw failed(settings, 'its response contains no embeddings', false);
    }
    const length = Math.hypot(...embedding) || 1;
    vectors[index] = Float32Array.from(embedding, (value: number) => value / length);
  }
  const missing = Array.from({ length: count }, (_, at) => vectors[at]).indexOf(undefined);
  if (missing >= 0) throw failed(settings, `its response has no embedding for text ${missing + 1}`, false);
  return vectors;
}

function entriesOf(text: string): { index?: number; embedding?: number[] }[] {
  const { data } = membersOf<{ data: unknown }>(text);
  return Array.isArray(data) ? data.map((entry) => entry ?? {}) : [];
}

function failed(settings: EmbeddingEndpointSettings, state: string, retryable: boolean, cause?: unknown) {
  return new DocshelfError(
    'embedder_failed',
    `Cannot get embeddings from "${linkWithoutSecrets(settings.url)}": ${state}`,
    {
      next: 'Check search.model (url, model, keyFile) and the endpoint. Until it responds, search uses only keywords.',
      fields: { retryable },
      cause,
    },
  );
}
