import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import type { HttpClient } from '../../../src/net/http-client.ts';
import { EmbeddingEndpoint } from '../../../src/search/semantic/embedding-endpoint.ts';
import { httpServer, type LocalServer } from '../../helpers/local-server.ts';
import { httpClientOf } from '../../net/http-client-of.ts';

const KEY = 'sk-canary-key';
const DIMS = 32;
/** Vector of length 2 that identifies its text, in the direction of one of its numbers. */
const embeddingOf = (text: string) => Array.from({ length: DIMS }, (_, at) => (at === text.length % DIMS ? 2 : 0));

interface EmbeddingRequest {
  readonly model: string;
  readonly input: readonly string[];
}
type Answer = (request: EmbeddingRequest, response: ServerResponse) => void;

const answerAll: Answer = ({ input }, response) => {
  const data = input.map((text, index) => ({ index, embedding: embeddingOf(text) }));
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ data: data.reverse() }));
};

let server: LocalServer;
let client: HttpClient;
let requests: EmbeddingRequest[];
let answer: Answer;

async function connect(signal = new AbortController().signal): Promise<EmbeddingEndpoint> {
  return EmbeddingEndpoint.connect(async () => client, settings(), signal);
}
const settings = () => ({ url: `${server.origin}/v1/embeddings?tenant=canary`, model: 'm', key: new Secret(KEY) });

async function start(
  first: Answer = answerAll,
  clientSettings: Parameters<typeof httpClientOf>[0] = {},
): Promise<void> {
  requests = [];
  answer = first;
  server = await httpServer(async (request: IncomingMessage, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    requests.push(JSON.parse(body));
    answer(JSON.parse(body), response);
  });
  client = httpClientOf(clientSettings);
}

describe('EmbeddingEndpoint', () => {
  it('reads the vector length from the endpoint, and returns vectors of length 1 in the order of the texts', async () => {
    await start();
    const endpoint = await connect();
    expect(endpoint.dims).toBe(DIMS);
    const vectors = await endpoint.embedPassages(['a', 'bb', 'ccc']);
    expect(vectors.map((vector) => vector.indexOf(1))).toEqual([1, 2, 3]);
    expect((await endpoint.embedQuery('dddd')).indexOf(1)).toBe(4);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(server.requests[0]?.method).toBe('POST');
    expect(requests[0]?.model).toBe('m');
  });

  it('sends many texts in requests of 64', async () => {
    await start();
    const endpoint = await connect();
    const texts = Array.from({ length: 130 }, (_, at) => 'x'.repeat(at + 1));
    const vectors = await endpoint.embedPassages(texts);
    expect(requests.slice(1).map(({ input }) => input.length)).toEqual([64, 64, 2]);
    expect(vectors.map((vector) => vector.indexOf(1))).toEqual(texts.map((text) => text.length % DIMS));
  });

  it('has a digest that depends on the model name, but not on the API key', async () => {
    await start();
    const digests = await Promise.all(
      [settings(), { ...settings(), key: null }, { ...settings(), model: 'n' }].map(async (each) => {
        return (await EmbeddingEndpoint.connect(async () => client, each, new AbortController().signal)).digest;
      }),
    );
    expect(digests[1]).toBe(digests[0]);
    expect(digests[2]).not.toBe(digests[0]);
  });

  it.each<[string, Answer, boolean]>([
    ['rejects the key', (_, response) => response.writeHead(401).end(), false],
    ['returns 429', (_, response) => response.writeHead(429).end(), true],
    ['returns 503', (_, response) => response.writeHead(503).end('x'.repeat(100_000)), true],
    ['returns 404', (_, response) => response.writeHead(404).end(), false],
    ['redirects', (_, response) => response.writeHead(307, { location: '/elsewhere' }).end(), false],
    ['returns no JSON', (_, response) => response.end('<html>'), false],
    ['returns unexpected JSON', (_, response) => response.end('{"data": [null, 3]}'), false],
    ['returns too few vectors', (_, response) => response.end('{"data": []}'), false],
    ['returns text instead of numbers', (_, response) => response.end('{"data": [{"embedding": ["1"]}]}'), false],
    [
      'returns vectors of an invalid length',
      (_, response) => response.end('{"data": [{"embedding": [1, 2, 3]}]}'),
      false,
    ],
    ['ends the connection', (_, response) => response.destroy(), true],
  ])('throws embedder_failed if the endpoint %s', async (_, failing, retryable) => {
    await start(failing);
    const error = await connect().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'embedder_failed', fields: { retryable } });
    expect(JSON.stringify(error) + String(error)).not.toContain('canary');
    expect(requests).toHaveLength(1);
  });

  it('stops waiting for an endpoint that never responds', async () => {
    await start(() => {}, { idleTimeoutMs: 200 });
    await expect(connect()).rejects.toMatchObject({ code: 'embedder_failed', fields: { retryable: true } });
  });

  it('throws embedder_failed if the length of the vectors changes', async () => {
    await start();
    const endpoint = await connect();
    answer = (_, response) => response.end(JSON.stringify({ data: [{ embedding: new Array(64).fill(0.1) }] }));
    await expect(endpoint.embedQuery('text')).rejects.toMatchObject({ code: 'embedder_failed' });
  });

  it('sends no request to a host that is not allowed', async () => {
    await start(answerAll, { allowsUnnamed: false });
    await expect(connect()).rejects.toMatchObject({ code: 'host_not_allowed' });
    expect(requests).toEqual([]);
  });

  it('rejects with the reason of the abort signal', async () => {
    const stop = new AbortController();
    await start(() => stop.abort(new Error('stopped')));
    await expect(connect(stop.signal)).rejects.toThrow('stopped');
  });
});
