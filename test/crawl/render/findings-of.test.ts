import { describe, expect, it } from 'vitest';
import type { BrowserPage } from '../../../src/crawl/render/rendered-page.ts';
import { findingsOf } from '../../../src/crawl/render/rendered-page.ts';

const page = (fields: Partial<BrowserPage>): BrowserPage => ({
  url: 'https://site.test/',
  state: 'settled',
  reason: null,
  dom: null,
  answered: [],
  failures: [],
  consoleErrors: [],
  screenshot: null,
  ...fields,
});

describe('findingsOf()', () => {
  it('says nothing of a page that settled, nor of what its site does not have', () => {
    expect(findingsOf('a.html', page({ failures: [{ url: 'https://site.test/x.png', why: '404' }] }))).toEqual([]);
    expect(findingsOf('a.html', page({ state: 'left', reason: 'it went on' }))).toEqual([]);
  });

  it.each(['unsettled', 'hung', 'crashed', 'failed'] as const)('tells of a page that is %s', (state) => {
    expect(findingsOf('a.html', page({ state, reason: 'why' }))).toEqual([
      { kind: 'not_rendered', page: 'a.html', detail: `${state}: why` },
    ]);
  });

  it('tells what was not sent', () => {
    const failures = ['method', 'stream', 'budget'].map((why) => ({ url: `https://site.test/${why}`, why }));
    const found = findingsOf('a.html', page({ failures }));
    expect(found.map(({ kind }) => kind)).toEqual(['request_refused', 'request_refused', 'request_refused']);
    expect(found[0]?.detail).toMatch(/^https:\/\/site\.test\/method: /);
  });
});
