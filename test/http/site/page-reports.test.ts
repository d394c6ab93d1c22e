import { describe, expect, it } from 'vitest';
import { PageReports } from '../../../src/http/site/page-reports.ts';
import { createSiteApp } from '../../../src/http/site/site.ts';
import { BodyCache, SiteServer } from '../../../src/serve/index.ts';

const post = (body: string) => new Request('http://x/_docshelf/csp-report', { method: 'POST', body });
const old = (blocked: unknown) => JSON.stringify({ 'csp-report': { 'blocked-uri': blocked } });
const now = (...blocked: unknown[]) =>
  JSON.stringify(blocked.map((blockedURL) => ({ type: 'csp-violation', body: { blockedURL } })));

describe('PageReports', () => {
  it.each<[string, string, number, string[]]>([
    ['the older format', old('https://cdn.example/a.js?token=x'), 204, ['https://cdn.example']],
    [
      'the newer format',
      now('https://a.example/x', 'wss://b.example:8443/y'),
      204,
      ['https://a.example', 'wss://b.example:8443'],
    ],
    ['an inline script', old('inline'), 204, []],
    ['a scheme', now('data', 'blob:https://x/y', null, 7), 204, []],
    ['no report', '{}', 400, []],
    ['a list of none', '[1, null]', 400, []],
    ['no JSON', 'x', 400, []],
    ['nothing', '', 400, []],
    ['too much', `"${'a'.repeat(16 * 1024)}"`, 413, []],
  ])('counts by origin alone: %s', async (_, body, status, origins) => {
    const told: string[] = [];
    const reports = new PageReports((origin) => told.push(origin));
    expect((await reports.answer(post(body))).status).toBe(status);
    expect(told).toEqual(origins);
    expect(reports.notices).toHaveLength(origins.length);
  });

  it('keeps a bounded number of origins, and tells the most frequent', async () => {
    const told = new Set<string>();
    const reports = new PageReports((origin) => told.add(origin));
    for (let n = 0; n < 300; n++) await reports.answer(post(old(`https://h${n}.example/`)));
    for (let n = 0; n < 3; n++) await reports.answer(post(old('https://h7.example/')));
    expect(told.size).toBe(101);
    expect(reports.notices).toHaveLength(10);
    expect(reports.notices[1]).toMatch(/^Pages tried to load from https:\/\/h7\.example \(4 reports of browsers\)/);
  });
});

it('are taken at their address below the base path, from nothing but POST', async () => {
  const reports = new PageReports(() => undefined);
  const server = new SiteServer(new BodyCache(1024));
  const state = () => 'off' as const;
  const features = () => ({ deploymentType: 'cloud', domain: 'acme', features: [] }) as const;
  const app = createSiteApp({ server, basePath: '/docs/', state, features, reports });
  const at = '/docs/_docshelf/csp-report';
  expect((await app.request(at, { method: 'POST', body: old('https://cdn.example/a.js') })).status).toBe(204);
  expect((await app.request(at)).status).toBe(404);
  expect(reports.notices).toHaveLength(1);
});
