import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { DocshelfError } from '../../src/domain/errors.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { problemResponse } from '../../src/http/problem.ts';
import { searchRequestParser } from '../../src/http/search-request.ts';
import { searchRequestExample } from '../../src/http/search-schema.ts';
import { apiWith, KEY, post } from './api-example.ts';

interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}
interface Operation {
  readonly requestBody: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly headers: object; readonly content: Content }>>;
}
type Content = Readonly<Record<string, { readonly schema: { readonly $ref: string }; readonly example?: unknown }>>;

const DOCUMENT = openApiDocument({ programVersion: '1.2.3', publicUrl: null }) as Document;
const SEARCH = DOCUMENT.paths['/v1/search/{domain}']?.post as Operation;

/** Checks by a schema of the document. */
function checkOf(content: Content | undefined, type: string) {
  const name = content?.[type]?.schema.$ref.replace('#/components/schemas/', '') ?? '';
  return new Ajv2020({ strict: true, strictTypes: false }).compile(DOCUMENT.components.schemas[name] as object);
}

describe('the OpenAPI document', () => {
  it('is served, and names where clients reach the API', async () => {
    const response = await apiWith().app.request('/openapi.json');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(DOCUMENT)));
    const behindProxy = apiWith({ publicUrl: () => 'https://api.acme.dev' });
    const served = (await (await behindProxy.app.request('/openapi.json')).json()) as Document;
    expect(served.servers).toEqual([{ url: 'https://api.acme.dev' }]);
  });

  it('has examples that are as its schemas say', () => {
    const { requestBody, responses } = SEARCH;
    for (const content of [requestBody.content, responses[200]?.content]) {
      const check = checkOf(content, 'application/json');
      expect(check(content?.['application/json']?.example), JSON.stringify(check.errors)).toBe(true);
    }
    expect(searchRequestParser()(searchRequestExample)).toMatchObject(searchRequestExample);
  });

  it.each<[number, RequestInit, string?]>([
    [200, post({ query: 'a' })],
    [400, post({})],
    [401, post({ query: 'a' }, { Authorization: '' })],
    [403, post({ query: 'a' }, { Authorization: 'Bearer svc_dsc_looks_like_an_assistant_key' })],
    [404, post({ query: 'a' }), '/v1/search/nobody'],
    [413, post(' '.repeat(70_000))],
    [415, post({ query: 'a' }, { 'Content-Type': 'text/plain' })],
  ])('describes the answer %i as it is', async (status, init, path = '/v1/search/acme') => {
    const response = await apiWith().app.request(path, init);
    expect(response.status).toBe(status);
    await expectDescribed(response);
  });

  it('describes the answers of a search that is building or has too much to do', async () => {
    for (const code of ['index_building', 'rate_limited', 'queue_full'] as const) {
      await expectDescribed(problemResponse(new DocshelfError(code, 'Cannot search now', { next: 'Wait.' }), 'r-1'));
    }
  });

  it('holds no key', () => {
    expect(JSON.stringify(DOCUMENT)).not.toContain(KEY);
  });
});

async function expectDescribed(response: Response): Promise<void> {
  const described = SEARCH.responses[response.status];
  const type = response.headers.get('content-type')?.split(';')[0] ?? '';
  const check = checkOf(described?.content, type);
  expect(check(await response.json()), JSON.stringify(check.errors)).toBe(true);
  for (const name of ['RateLimit', 'RateLimit-Policy', 'Retry-After', 'WWW-Authenticate']) {
    if (response.headers.has(name)) expect(described?.headers).toHaveProperty(name);
  }
}
