import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import type { Operation as ApiOperation } from '../../../src/domain/operation.ts';
import { calls } from '../../../src/http/api/operations.ts';
import { problemResponse } from '../../../src/http/problem.ts';
import { bodyReader } from '../../../src/http/read-request.ts';
import { ADMIN_KEY, apiWith, documentOf, KEY, OTHER_KEY, post } from './api-example.ts';

interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}
interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly headers: object; readonly content: Content }>>;
}
type Content = Readonly<
  Record<
    string,
    {
      readonly schema: { readonly $ref: string };
      readonly example?: unknown;
      readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
    }
  >
>;

const BOTH = { search: true, exports: true };
const DOCUMENT = documentOf(BOTH) as Document;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
/** Operations, as pairs of method and path. */
const operations = Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
  METHODS.filter((method) => method in item).map((method) => ({
    name: `${method.toUpperCase()} ${path}`,
    operation: item[method] as Operation,
  })),
);
const operationAt = (name: string) => operations.find((each) => each.name === name)?.operation as Operation;

/** Validates a value with a schema of the document. */
function checkOf(content: Content | undefined, type: string) {
  const name = content?.[type]?.schema.$ref.replace('#/components/schemas/', '') ?? '';
  const ajv = new Ajv2020({ strict: true, strictTypes: false });
  addFormats.default(ajv);
  return ajv.compile(DOCUMENT.components.schemas[name] as object);
}

describe('OpenAPI document', () => {
  it('is served at /openapi.json, with publicUrl as the server URL', async () => {
    const response = await apiWith().app.request('/openapi.json');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(DOCUMENT)));
    const behindProxy = apiWith({ publicUrl: () => 'https://api.acme.dev' });
    const served = (await (await behindProxy.app.request('/openapi.json')).json()) as Document;
    expect(served.servers).toEqual([{ url: 'https://api.acme.dev' }]);
  });

  it('describes every call that the contract defines', () => {
    expect(operations.map(({ name }) => name).sort()).toEqual([
      'DELETE /v1/static-export/jobs/{jobId}',
      'GET /v1/static-export/jobs',
      'GET /v1/static-export/jobs/{jobId}',
      'GET /v1/static-export/jobs/{jobId}/report',
      'GET /v1/static-export/jobs/{jobId}/report/pictures/{name}',
      'POST /v1/search/{domain}',
      'POST /v1/static-export/jobs',
      'POST /v1/static-export/jobs/{jobId}/bundle',
    ]);
  });

  it.each([
    { offered: { search: true, exports: false }, without: ['exports'] as const, prefix: '/v1/search/' },
    { offered: { search: false, exports: true }, without: ['search'] as const, prefix: '/v1/static-export/' },
  ])('omits calls and schemas of features that are turned off: $without', async ({ offered, without, prefix }) => {
    const served = (await (await apiWith({}, without).app.request('/openapi.json')).json()) as Document;
    expect(served).toEqual(JSON.parse(JSON.stringify(documentOf(offered))));
    expect(Object.keys(served.paths).filter((path) => !path.startsWith(prefix))).toEqual([]);
    const named = [...JSON.stringify(served.paths).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name);
    expect([...new Set(named)].sort()).toEqual(Object.keys(served.components.schemas).sort());
  });

  it.each(operations)('has valid examples for every request and response body: $name', ({ operation }) => {
    const bodies = [operation.requestBody, ...Object.values(operation.responses)].map((each) => each?.content);
    for (const content of bodies.filter((each) => each !== undefined)) {
      for (const [type, { example, examples }] of Object.entries(content)) {
        if (type === 'image/png') continue;
        const check = checkOf(content, type);
        const values = examples === undefined ? [example] : Object.values(examples).map(({ value }) => value);
        expect(values.length).toBeGreaterThan(0);
        for (const value of values) expect(check(value), JSON.stringify(check.errors)).toBe(true);
      }
    }
  });

  it('has request examples that the API accepts', async () => {
    const readValue = (operation: ApiOperation, value: unknown) =>
      bodyReader(operation)(new Request('http://localhost', post(value)), undefined);
    const examplesOf = (name: string) =>
      Object.values(operationAt(name).requestBody?.content['application/json']?.examples ?? {});
    for (const { value } of examplesOf('POST /v1/search/{domain}')) {
      expect(await readValue(calls.search, value)).toMatchObject(value as object);
    }
    for (const { value } of examplesOf('POST /v1/static-export/jobs')) {
      expect(await readValue(calls.startExport, value)).toMatchObject(value as object);
    }
  });

  it.each(operations)('states the type of key that $name needs', ({ name, operation }) => {
    const scheme = name.includes('/v1/search/') ? 'assistantKey' : 'adminKey';
    expect(operation.security).toEqual([{ [scheme]: [] }]);
    expect(DOCUMENT.components.securitySchemes[scheme]).toMatchObject({ type: 'http', scheme: 'bearer' });
  });

  it('contains no API key', () => {
    expect(JSON.stringify(DOCUMENT)).not.toContain(KEY);
  });
});

describe('responses of the API, compared with the OpenAPI document', () => {
  const admin = { Authorization: `Bearer ${ADMIN_KEY}` };
  const jobs = '/v1/static-export/jobs';
  const search = '/v1/search/acme';

  it.each<[number, RequestInit, string?]>([
    [200, post({ query: 'a' })],
    [400, post({})],
    [401, post({ query: 'a' }, { Authorization: '' })],
    [403, post({ query: 'a' }, admin)],
    [404, post({ query: 'a' }), '/v1/search/nobody'],
    [413, post(' '.repeat(70_000))],
    [415, post({ query: 'a' }, { 'Content-Type': 'text/plain' })],
  ])('match the schema for status %i of a search', async (status, init, path = search) => {
    const response = await apiWith().app.request(path, init);
    expect(response.status).toBe(status);
    await expectDescribed('POST /v1/search/{domain}', response);
  });

  it('match the schema of a search if the index is not ready or the search is overloaded', async () => {
    for (const code of ['index_building', 'rate_limited', 'queue_full'] as const) {
      const response = problemResponse(new DocshelfError(code, 'Cannot search now', { next: 'Wait.' }), 'r-1');
      await expectDescribed('POST /v1/search/{domain}', response);
    }
  });

  const unknown = 'se_0000000000000000';
  it.each<[number, string, RequestInit, string?, string?]>([
    [202, 'POST /v1/static-export/jobs', post({ domain: 'acme' }, admin)],
    [400, 'POST /v1/static-export/jobs', post({}, admin)],
    [401, 'POST /v1/static-export/jobs', post({}, { Authorization: '' })],
    [403, 'POST /v1/static-export/jobs', post({}, { Authorization: `Bearer ${OTHER_KEY}` })],
    [404, 'POST /v1/static-export/jobs', post({ domain: 'globex' }, admin)],
    [409, 'POST /v1/static-export/jobs', post({ domain: 'elsewhere' }, admin)],
    [413, 'POST /v1/static-export/jobs', post(' '.repeat(70_000), admin)],
    [415, 'POST /v1/static-export/jobs', post({}, { ...admin, 'Content-Type': 'text/plain' })],
    [200, 'GET /v1/static-export/jobs', { headers: admin }],
    [400, 'GET /v1/static-export/jobs', { headers: admin }, '?limit=0'],
    [404, 'GET /v1/static-export/jobs', { headers: admin }, '?domain=globex'],
    [200, 'GET /v1/static-export/jobs/{jobId}', { headers: admin }],
    [401, 'GET /v1/static-export/jobs/{jobId}', {}],
    [202, 'DELETE /v1/static-export/jobs/{jobId}', { method: 'DELETE', headers: admin }],
    [200, 'GET /v1/static-export/jobs/{jobId}/report', { headers: admin }],
    [200, 'POST /v1/static-export/jobs/{jobId}/bundle', { method: 'POST', headers: admin }],
    [400, 'POST /v1/static-export/jobs/{jobId}/bundle', post({ ttl: 5 }, admin)],
    [404, 'GET /v1/static-export/jobs/{jobId}/report', { headers: admin }, '', unknown],
    [404, 'POST /v1/static-export/jobs/{jobId}/bundle', { method: 'POST', headers: admin }, '', unknown],
    [409, 'GET /v1/static-export/jobs/{jobId}/report', { headers: admin }],
    [409, 'POST /v1/static-export/jobs/{jobId}/bundle', { method: 'POST', headers: admin }],
  ])('match the schema for status %i of %s', async (status, name, init, query = '', id = '') => {
    const { app, queue } = apiWith();
    const started = await app.request(jobs, post({ domain: 'acme' }, admin));
    const { jobId } = (await started.json()) as { jobId: string };
    if (status !== 409) queue.complete(jobId);
    const path = name.replace(/^\w+ /, '').replace('{jobId}', id || jobId);
    const response = await app.request(path + query, init);
    expect(response.status).toBe(status);
    await expectDescribed(name, response);
  });
});

async function expectDescribed(name: string, response: Response): Promise<void> {
  const described = operationAt(name).responses[response.status];
  const type = response.headers.get('content-type')?.split(';')[0] ?? '';
  const check = checkOf(described?.content, type);
  expect(check(await response.json()), JSON.stringify(check.errors)).toBe(true);
  for (const header of ['RateLimit', 'RateLimit-Policy', 'Retry-After', 'WWW-Authenticate', 'Location']) {
    if (response.headers.has(header)) expect(described?.headers).toHaveProperty(header);
  }
}
