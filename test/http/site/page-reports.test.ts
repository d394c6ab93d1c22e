import { describe, expect, it } from 'vitest';
import { PageReports, type ReportedSite } from '../../../src/http/site/page-reports.ts';
import { siteApp } from './site-example.ts';

const post = (body: string, headers = {}) =>
  new Request('http://x/_docshelf/csp-report', { method: 'POST', body, headers });
const old = (blocked: unknown, document: unknown = 'http://x/a') =>
  JSON.stringify({ 'csp-report': { 'document-uri': document, 'blocked-uri': blocked } });
const now = (...blocked: unknown[]) =>
  JSON.stringify(
    blocked.map((blockedURL) => ({ type: 'csp-violation', body: { documentURL: 'http://x/a', blockedURL } })),
  );

/** Reports of a site, and the reported origins. */
function reportsOf(site: Partial<ReportedSite> = {}) {
  const reported: string[] = [];
  const own: ReportedSite = { policy: 'on', basePath: '/', hosts: [], ...site };
  const onReport = (origin: string): void => {
    reported.push(origin);
  };
  return { reports: new PageReports(onReport, () => own), reported, site: own };
}

describe('PageReports (browser reports of blocked resources)', () => {
  it.each<[string, Partial<ReportedSite>, string, Readonly<Record<string, string>>, number]>([
    ['with enforcement on', {}, 'http://x/a', {}, 204],
    ['with enforcement in report mode', { policy: 'report' }, 'http://x/a', {}, 204],
    ['with enforcement off', { policy: 'off' }, 'http://x/a', {}, 404],
    ['about a document of another site', {}, 'https://other.example/a', {}, 403],
    ['about no document', {}, '', {}, 403],
    ['about a document of another scheme', {}, 'file:///x/a', {}, 403],
    ['about a document in the base path', { basePath: '/docs/' }, 'http://x/docs/a', {}, 204],
    ['about the base path itself', { basePath: '/docs/' }, 'http://x/docs', {}, 204],
    ['about a document next to the base path', { basePath: '/docs/' }, 'http://x/docs2/a', {}, 403],
    [
      'about a document of a public host behind a proxy',
      { hosts: ['docs.example'] },
      'https://DOCS.example/a',
      {},
      204,
    ],
    ['about a document at another port', {}, 'http://x:8443/a', { origin: 'http://x:8443' }, 204],
    ['as a browser sends it', {}, 'http://x/a', { 'sec-fetch-site': 'same-origin', origin: 'http://x' }, 204],
    ['from a document without an origin', {}, 'http://x/a', { origin: 'null' }, 204],
    ['from a page of another site', {}, 'http://x/a', { origin: 'https://evil.example' }, 403],
    ['from a frame of another site', {}, 'http://x/a', { origin: 'null', 'sec-fetch-site': 'cross-site' }, 403],
    ['from another origin of the same site', {}, 'http://x/a', { 'sec-fetch-site': 'same-site' }, 403],
  ])(
    'accepts a report only from a page of the site about a document of the site while enforcement is on: a report %s',
    async (_, site, document, headers, status) => {
      const { reports, reported } = reportsOf(site);
      const newer = JSON.stringify([
        { type: 'csp-violation', url: document, body: { documentURL: document, blockedURL: 'https://cdn.example/a' } },
      ]);
      for (const body of [old('https://cdn.example/a', document), newer]) {
        expect((await reports.answer(post(body, headers))).status).toBe(status);
      }
      expect(reported).toEqual(status === 204 ? ['https://cdn.example', 'https://cdn.example'] : []);
      expect([reports.counts.length, reports.notices.length]).toEqual(status === 204 ? [1, 1] : [0, 0]);
    },
  );

  it('shows notices that do not advise the operator to allow a reported origin', async () => {
    const { reports, site } = reportsOf();
    await reports.answer(post(old('https://evil.example/a.js')));
    await reports.answer(post(old(`https://${'evil.'.repeat(200)}example/`)));
    expect(reports.counts.map(({ origin }) => origin)).toEqual(['https://evil.example', 'others']);
    expect(reports.notices.join()).not.toMatch(/name it|origins/);
    Object.assign(site, { policy: 'off' });
    expect([reports.counts, reports.notices]).toEqual([[], []]);
  });

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
    ['a list without a report', '[1, null]', 400, []],
    ['invalid JSON', 'x', 400, []],
    ['an empty body', '', 400, []],
    ['a number', '7', 400, []],
    ['a body that is too large', `"${'a'.repeat(16 * 1024)}"`, 413, []],
  ])('counts only the origins of blocked URLs: %s', async (_, body, status, origins) => {
    const { reports, reported } = reportsOf();
    expect((await reports.answer(post(body))).status).toBe(status);
    expect(reported).toEqual(origins);
    expect(reports.notices).toHaveLength(origins.length);
  });

  it('keeps a limited number of origins, and shows the most frequently reported origins', async () => {
    const { reports, reported } = reportsOf();
    for (let n = 0; n < 300; n++) await reports.answer(post(old(`https://h${n}.example/`)));
    for (let n = 0; n < 3; n++) await reports.answer(post(old('https://h7.example/')));
    expect(new Set(reported).size).toBe(101);
    expect(reports.notices).toHaveLength(10);
    expect(reports.notices[1]).toMatch(/^Pages tried to load from https:\/\/h7\.example \(4 browser reports\)/);
  });
});

it('PageReports accepts only POST requests to the report address in the base path', async () => {
  const { reports } = reportsOf({ basePath: '/docs/' });
  const app = siteApp({ basePath: '/docs/', state: () => 'off', reports });
  const at = '/docs/_docshelf/csp-report';
  expect(
    (await app.request(at, { method: 'POST', body: old('https://cdn.example/a.js', 'http://localhost/docs/') })).status,
  ).toBe(204);
  expect((await app.request(at)).status).toBe(404);
  expect(reports.notices).toHaveLength(1);
});
