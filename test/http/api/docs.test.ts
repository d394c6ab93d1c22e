import { gunzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { API_INFO, calls } from '../../../src/http/api/operations.ts';
import { addDocs } from '../../../src/http/docs/docs.ts';
import { openApiDocument, withOwnNames } from '../../../src/http/openapi.ts';
import { attribute, parsedNodes, text } from '../../helpers/page-nodes.ts';
import { outcomeOf } from '../problem-code.ts';
import { apiWith } from './api-example.ts';

/** Addresses that the page loads, resolved from its root. */
async function loadedBy(app: ReturnType<typeof apiWith>['app']): Promise<string[]> {
  const html = await (await app.request('/docs')).text();
  return [...html.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, path]) => `/${path}`);
}

describe('page /docs', () => {
  it('loads and runs only resources of its own origin', async () => {
    const response = await apiWith().app.request('/docs');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8']);
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(await response.text()).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  it('loads a style and a script whose names contain a hash of their content', async () => {
    const { app } = apiWith();
    const paths = await loadedBy(app);
    expect(paths.map((path) => path.replace(/[0-9a-f]{16}/, 'HASH'))).toEqual([
      '/docs/docs-HASH.css',
      '/docs/docs-HASH.js',
    ]);
    for (const path of paths) {
      const plain = await app.request(path);
      expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(plain.headers.get('content-type')).toMatch(/^text\/(css|javascript); charset=utf-8$/);
      const packed = await app.request(path, { headers: { 'Accept-Encoding': 'br, gzip' } });
      expect([packed.headers.get('content-encoding'), packed.headers.get('vary')]).toEqual(['gzip', 'Accept-Encoding']);
      const bytes = Buffer.from(await plain.arrayBuffer());
      expect(gunzipSync(await packed.arrayBuffer()).equals(bytes)).toBe(true);
    }
  });

  it('contains the input, output and required key of each call in the HTML, not in a script', async () => {
    const all = parsedNodes(await (await apiWith().app.request('/docs')).text());
    const search = all.find((node) => attribute(node, 'id') === 'search');
    const searchText = search === undefined ? '' : text(search);
    expect(searchText).toContain('Needs a key: assistantKey.');
    expect(searchText).toContain('query string, required');
    expect(searchText).toContain('curl -X POST "$DOCSHELF_URL/v1/search/acme" \\ -H "Authorization: Bearer $KEY"');
    expect(searchText).toMatch(/200 .* 401 .* 429 .* 503 /);
    const ids = all.flatMap((node) => attribute(node, 'id') ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    for (const node of all) {
      const to = attribute(node, 'href');
      if (to?.startsWith('#')) expect(ids).toContain(to.slice(1));
      expect([attribute(node, 'style'), attribute(node, 'onclick')]).toEqual([undefined, undefined]);
    }
  });

  it('uses a configured site in its examples, as /openapi.json does', async () => {
    const { app } = apiWith({ ownSite: () => ({ domain: 'handbook', host: 'docs.$&.test' }) });
    const [page, document] = [await app.request('/docs'), await app.request('/openapi.json')];
    const { paths } = await document.json();
    const { examples } = paths['/v1/search/{domain}'].post.parameters[0];
    expect(examples).toEqual({ domain: { value: 'handbook' }, host: { value: 'docs.$&.test' } });
    expect(await page.text()).toContain('$DOCSHELF_URL/v1/search/handbook');
  });

  it.each([
    ['acme-inc', 'initech'],
    ['acme', 'acme'],
    ['docs', 'acme-inc'],
  ])(
    'uses the domain %s as the host in examples if the site has no separate host: organization %s',
    (domain, organization) => {
      const written = { site: 'acme', host: 'docs.acme.dev', organization: 'acme-inc', link: '/acme-export-2024.zip' };
      expect(withOwnNames(written, { domain, host: null, organization })).toEqual({
        ...{ site: domain, host: domain, organization },
        link: `/${domain}-export-2024.zip`,
      });
    },
  );

  it('escapes the texts of the OpenAPI document', async () => {
    const app = new Hono();
    const document = openApiDocument([{ ...calls.search, summary: '<b>&"', description: '</p><script>1' }], {
      ...API_INFO,
      programVersion: '<i>',
      publicUrl: 'https://api.test/<u>',
    });
    addDocs(app, () => document);
    const html = await (await app.request('/docs')).text();
    expect(html).not.toMatch(/<b>&|<script>1|<i>|<u>/);
    expect(html).toContain('&lt;/p&gt;&lt;script&gt;1');
  });

  it.each(['/docs/', '/docs/docs.css', '/docs/..%2fapi.ts', '/docs/x/y'])(
    'responds to the unknown path %s with 404',
    async (path) => {
      expect(await outcomeOf(apiWith().app.request(path))).toEqual([404, 'not_found']);
    },
  );

  it('accepts only GET and HEAD', async () => {
    const response = await apiWith().app.request('/docs', { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});
