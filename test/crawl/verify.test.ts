import { describe, expect, it } from 'vitest';
import { type BrowserPage, findingsOf } from '../../src/crawl/render/rendered-page.ts';
import { addressOf, compareText, judgePage, resolveOnHost, sampleOf, WRITTEN_ORIGIN } from '../../src/crawl/verify.ts';

/** A page in the state in which the browser shows it. */
const page = (fields: Partial<BrowserPage>): BrowserPage => ({
  url: `${WRITTEN_ORIGIN}/a.html`,
  state: 'settled',
  reason: null,
  dom: { html: '', text: '', links: [] },
  failures: [],
  consoleErrors: [],
  screenshot: null,
  ...fields,
});

describe('sampleOf() (pages to compare with the live site)', () => {
  it('returns the whole list if it is short', () => {
    expect(sampleOf([1, 2, 3], 3)).toEqual([1, 2, 3]);
  });

  it('selects evenly from a long list', () => {
    const sample = sampleOf(
      Array.from({ length: 1_100 }, (_, at) => at),
      200,
    );
    expect(sample).toHaveLength(200);
    expect(sample[0]).toBe(0);
    const gaps = sample.slice(1).map((value, at) => value - (sample[at] ?? 0));
    expect([Math.min(...gaps), Math.max(...gaps)]).toEqual([5, 6]);
  });
});

describe('compareText() (visible text of the live page and the exported page)', () => {
  it('ignores differences in white space and Unicode form', () => {
    expect(compareText('Cafe\u0301  and\n\ntea ', 'Café and tea')).toBeNull();
  });

  it.each([
    ['a word that is missing', 'one two three', 'one three', 1, 0],
    ['words that are new', 'one', 'one two three', 0, 2],
    ['a changed word', 'one two three', 'one 2 three', 1, 1],
    ['a changed order', 'one two', 'two one', 0, 0],
    ['a missing text', 'one two', '', 2, 0],
  ])('counts missing and added words: %s', (_, live, written, missing, added) => {
    expect(compareText(live, written)).toMatchObject({ missing, added });
  });

  it('shows the position of the first difference', () => {
    expect(compareText('one two three', 'one two')?.detail).toContain(
      'the live page has "three", the exported page has no more words',
    );
  });
});

describe('resolveOnHost() (exported file for a path)', () => {
  const files = new Map(
    ['index.html', 'a.html', 'b/index.html', 'c/d.png', 'e', 'f g/index.html'].map((path) => [path, 1]),
  );

  it.each([
    ['', { kind: 'file', path: 'index.html', isPlain: true }],
    ['a.html', { kind: 'file', path: 'a.html', isPlain: true }],
    ['b/', { kind: 'file', path: 'b/index.html', isPlain: true }],
    ['b', { kind: 'redirect', location: '/b/' }],
    ['f g', { kind: 'redirect', location: '/f%20g/' }],
    ['e', { kind: 'file', path: 'e', isPlain: true }],
    ['a', { kind: 'file', path: 'a.html', isPlain: false }],
    ['c/', { kind: 'missing' }],
    ['x.png', { kind: 'missing' }],
  ])('resolves the path "%s" to %j', (path, answer) => {
    expect(resolveOnHost(files, path)).toEqual(answer);
  });
});

it('addressOf() returns the address from which the browser loads an exported file', () => {
  expect(['index.html', 'b/index.html', 'a.html', 'f g/ü?.html'].map(addressOf)).toEqual([
    `${WRITTEN_ORIGIN}/`,
    `${WRITTEN_ORIGIN}/b/`,
    `${WRITTEN_ORIGIN}/a.html`,
    `${WRITTEN_ORIGIN}/f%20g/%C3%BC%3F.html`,
  ]);
});

describe('judgePage() (comparison of an exported page with its live page)', () => {
  const kinds = ({ findings }: { findings: readonly { kind: string; detail: string }[] }) =>
    findings.map(({ kind, detail }) => [kind, detail]);

  it('returns no findings if the page equals the live page', () => {
    expect(judgePage('a.html', page({}), null, null)).toEqual({ findings: [], weight: 0 });
  });

  it('ignores requests that also fail on the live page', () => {
    const failures = ['/gone.png', '/lost.png?v=1'].map((path) => ({ url: WRITTEN_ORIGIN + path, why: '404' }));
    const live = { failures: ['https://docs.acme.dev/gone.png'], consoleErrors: [] };
    expect(kinds(judgePage('a.html', page({ failures }), live, null))).toEqual([
      ['failed_request', '/lost.png?v=1: 404'],
    ]);
  });

  it('returns a finding for every request to another site, without the query of the request', () => {
    const failures = [{ url: 'https://fonts.test/a.css?key=secret', why: 'address_not_allowed' }];
    const live = { failures: ['https://fonts.test/a.css?key=secret'], consoleErrors: [] };
    expect(kinds(judgePage('a.html', page({ failures }), live, null))).toEqual([
      ['off_origin_request', 'https://fonts.test/a.css'],
    ]);
  });

  it('ignores console errors that the live page also has, even if addresses and numbers in them differ', () => {
    const live = { failures: [], consoleErrors: ['Error at https://docs.acme.dev/a.js:3:14: it is off'] };
    const consoleErrors = [`Error at ${WRITTEN_ORIGIN}/a.js:8:1: it is off`, 'TypeError:\n  x is not a function'];
    expect(kinds(judgePage('a.html', page({ consoleErrors }), live, null))).toEqual([
      ['console_error', 'TypeError: x is not a function'],
    ]);
  });

  it('rates a failed page above a missing image, and a missing image above a missing word', () => {
    const weights = [
      judgePage('a.html', page({ state: 'hung', reason: 'why' }), null, null),
      judgePage('a.html', page({ failures: [{ url: `${WRITTEN_ORIGIN}/a.png`, why: '404' }] }), null, null),
      judgePage('a.html', page({}), null, { missing: 1, added: 0, detail: '' }),
    ].map(({ weight }) => weight);
    expect(weights).toEqual([...weights].sort((a, b) => b - a));
    expect(new Set(weights).size).toBe(3);
  });
});

describe('findingsOf() (errors of an exported page in a browser)', () => {
  it('returns no finding for a page that navigated away, or for a missing file of the exported site', () => {
    expect(findingsOf('a.html', page({ failures: [{ url: 'https://site.test/x.png', why: '404' }] }))).toEqual([]);
    expect(findingsOf('a.html', page({ state: 'left', reason: 'it went on' }))).toEqual([]);
  });

  it.each(['unsettled', 'hung', 'crashed', 'failed'] as const)('returns a finding for a page that is %s', (state) => {
    expect(findingsOf('a.html', page({ state, reason: 'why' }))).toEqual([
      { kind: 'not_rendered', page: 'a.html', detail: `${state}: why` },
    ]);
  });

  it('returns a finding for each request that the browser was not allowed to send', () => {
    const failures = ['method', 'stream', 'budget'].map((why) => ({ url: `https://site.test/${why}`, why }));
    const found = findingsOf('a.html', page({ failures }));
    expect(found.map(({ kind }) => kind)).toEqual(['request_refused', 'request_refused', 'request_refused']);
    expect(found[0]?.detail).toMatch(/^https:\/\/site\.test\/method: /);
  });
});
