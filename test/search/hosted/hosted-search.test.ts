import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { DocshelfError } from '../../../src/domain/errors.ts';
import { searchRequestOf } from '../../../src/domain/search.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { HostedSearch, type HostedSearchOptions, parseHostedResults } from '../../../src/search/hosted-search.ts';
import type { SearchRequest, SearchResult } from '../../../src/search/request.ts';
import { type Answer, httpServer } from '../../helpers/local-server.ts';
import { httpClientOf } from '../../net/http-client-of.ts';

const KEY = 'svc_dsc_canary';
const signal = new AbortController().signal;

const resultOf = (path: string, score = 0.5): SearchResult => ({
  content: 'Rotate keys',
  path,
  metadata: { score, title: 'Keys', headings: [], version: null, language: null, tags: [], highlights: [] },
});

const requestOf = (changes: Partial<SearchRequest> = {}): SearchRequest => ({
  ...searchRequestOf({ query: 'keys', pageSize: 3 }),
  ...changes,
});

/** A hosted search with this response. */
async function hostedBy(answer: Answer, changes: Partial<HostedSearchOptions> = {}, allowedHosts: string[] = []) {
  const server = await httpServer(answer);
  const client = httpClientOf({ allowedHosts });
  const faults: DocshelfError[] = [];
  const search = new HostedSearch({
    client,
    settings: { discoveryUrl: `${server.origin}/base/`, domain: 'acme', key: new Secret(KEY) },
    onFault: (error) => faults.push(error),
    ...changes,
  });
  const searchWith = async (request = requestOf()) => (await search.search(request, signal))?.map(briefOf) ?? null;
  return { search, searchWith, faults, server };
}

const briefOf = ({ path, metadata }: SearchResult) => `${metadata.source} ${path}`;

const answering =
  (body: unknown, status = 200): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

describe('HostedSearch', () => {
  it('sends the request that the contract defines, with the key, and marks the results as hosted', async () => {
    const { promise, resolve } = Promise.withResolvers<{ request: IncomingMessage; body: unknown }>();
    const { searchWith, faults } = await hostedBy(async (request, response: ServerResponse) => {
      resolve({ request, body: JSON.parse(await text(request)) });
      response.end(JSON.stringify([resultOf('/hosted')]));
    });
    const filter = { version: 'v2', language: null, tag: null };
    expect(await searchWith(requestOf({ scoreThreshold: 0.1, filter }))).toEqual(['hosted /hosted']);
    const { request, body } = await promise;
    expect([request.method, request.url]).toEqual(['POST', '/base/v1/search/acme']);
    expect(request.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'content-type': 'application/json' });
    expect(body).toEqual({ query: 'keys', pageSize: 3, scoreThreshold: 0.1, filter: { version: 'v2' } });
    expect(faults).toEqual([]);
  });

  it.each<[string, Answer]>([
    ['rejects the key', answering({ error: 'no' }, 401)],
    ['returns 429', answering({ error: 'slow down' }, 429)],
    ['returns 500', answering({}, 500)],
    ['redirects', (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['returns no JSON', (_, response) => void response.end('<html>')],
    ['returns no list', answering({ results: [] })],
    ['returns a list of invalid results', answering([{ text: 'a' }])],
    [
      'closes the connection within the response',
      (_, response) => void response.writeHead(200, { 'content-length': 99 }).write('[', () => response.destroy()),
    ],
    ['refuses the connection', (request) => void request.socket.destroy()],
  ])('falls back to the local engine if the hosted engine %s, and omits the key from the error', async (_, answer) => {
    const { searchWith, faults } = await hostedBy(answer);
    expect(await searchWith()).toBeNull();
    expect(faults.map(({ code }) => code)).toEqual(['hosted_search_failed']);
    expect(JSON.stringify(faults.map((fault) => [fault.message, fault.toPlain()]))).not.toContain('canary');
  });

  it('falls back to the local engine after the time limit', async () => {
    const { searchWith, faults, server } = await hostedBy(() => undefined, { timeoutMs: 100 });
    expect(await searchWith()).toBeNull();
    expect(faults).toMatchObject([{ code: 'hosted_search_failed', message: expect.stringContaining('within 0.1 s') }]);
    await expect.poll(() => server.openSockets()).toBe(0);
  });

  it('never contacts a host that is not allowed', async () => {
    const { searchWith, faults, server } = await hostedBy(answering([]), {}, ['docs.example.com']);
    expect(await searchWith()).toBeNull();
    expect(faults.map(({ code }) => code)).toEqual(['host_not_allowed']);
    expect(server.requests).toHaveLength(0);
  });

  it('stops requests after five failures, sends one request after 30 seconds, and resumes if this request succeeds', async () => {
    const clock = { nowMs: 0 };
    let isUp = false;
    const { searchWith, server } = await hostedBy(
      (...exchange) => (isUp ? answering([resultOf('/hosted')]) : answering({}, 503))(...exchange),
      { now: () => clock.nowMs },
    );
    for (let index = 0; index < 8; index++) expect(await searchWith()).toBeNull();
    expect(server.requests).toHaveLength(5);
    clock.nowMs = 30_000;
    await Promise.all([searchWith(), searchWith()]);
    expect(server.requests).toHaveLength(6);
    isUp = true;
    clock.nowMs = 60_000;
    expect([await searchWith(), await searchWith()]).toEqual([['hosted /hosted'], ['hosted /hosted']]);
  });

  it('uses the local engine for search as you type', async () => {
    const { searchWith, server } = await hostedBy(answering([resultOf('/hosted')]));
    expect(await searchWith(requestOf({ prefixLast: true }))).toBeNull();
    expect(server.requests).toHaveLength(0);
  });

  it('does not count an abort by the client as a failure', async () => {
    const { search, faults } = await hostedBy(() => undefined);
    for (let index = 0; index < 6; index++) {
      const leaving = new AbortController();
      const searching = search.search(requestOf(), leaving.signal);
      leaving.abort(new Error('left'));
      await expect(searching).rejects.toThrow('left');
    }
    expect(faults).toEqual([]);
  });
});

describe('parseHostedResults()', () => {
  const parse = (answer: unknown, resultsMax = 10) => parseHostedResults(JSON.stringify(answer), resultsMax);

  it('ignores unknown keys, and uses empty values for missing or invalid keys', () => {
    const metadata = {
      score: 0.4,
      title: 5,
      headings: ['a', 1],
      tags: 'x',
      highlights: [{ start: 0, end: 2 }, { start: 9, end: 99 }, 7],
      code: [{ start: 1, end: 4 }, { start: 2 }],
    };
    expect(parse([{ content: 'Keys', path: '/a', metadata: { ...metadata, more: true } }])).toEqual([
      {
        content: 'Keys',
        path: '/a',
        metadata: {
          score: 0.4,
          title: '',
          headings: ['a'],
          version: null,
          language: null,
          tags: [],
          highlights: [{ start: 0, end: 2 }],
          code: [{ start: 1, end: 4 }],
          source: 'hosted',
        },
      },
    ]);
  });

  it('sorts by score and keeps at most the requested number of results', () => {
    const results = parse([resultOf('/b', 0.2), resultOf('/a', 0.9), resultOf('/c', 0.1)], 2);
    expect(results?.map(({ path }) => path)).toEqual(['/a', '/b']);
  });

  it.each([
    [null],
    [{}],
    [[null]],
    [[{ content: 'a', path: '/a' }]],
    [[{ content: 'a', path: '/a', metadata: { score: 1.2 } }]],
    [[{ content: 'a', path: '/a', metadata: { score: '1' } }]],
    [[{ content: 1, path: '/a', metadata: { score: 1 } }]],
  ])('returns null for the invalid response %j', (answer) => {
    expect(parse(answer)).toBeNull();
  });
});
