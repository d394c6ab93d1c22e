import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../problem-code.ts';
import { apiWith } from './api-example.ts';

/** The addresses that the page loads, from its root. */
async function loadedBy(app: ReturnType<typeof apiWith>['app']): Promise<string[]> {
  const html = await (await app.request('/docs')).text();
  return [...html.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, path]) => `/${path}`);
}

describe('/docs', () => {
  it('is a page that nothing but its own origin may serve or run', async () => {
    const response = await apiWith().app.request('/docs');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8']);
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(await response.text()).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  it('loads a style and a script by names that change with their bytes', async () => {
    const { app } = apiWith();
    const paths = await loadedBy(app);
    expect(paths.map((path) => path.replace(/[0-9a-f]{16}/, 'HASH'))).toEqual([
      '/docs/swagger-ui-HASH.css',
      '/docs/swagger-ui-bundle-HASH.js',
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

  it.each(['/docs/', '/docs/swagger-ui.css', '/docs/..%2fapi.ts', '/docs/x/y'])('%s is 404', async (path) => {
    const response = await apiWith().app.request(path);
    expect([response.status, await codeOf(response)]).toEqual([404, 'not_found']);
  });

  it('is for GET and HEAD alone', async () => {
    const response = await apiWith().app.request('/docs', { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});
