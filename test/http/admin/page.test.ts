import { describe, expect, it } from 'vitest';
import { reportFeatures } from '../../../src/domain/feature.ts';
import type { StatusReport } from '../../../src/domain/status.ts';
import { adminPage } from '../../../src/http/admin/page.ts';
import { agoInWords, bytesInWords } from '../../../src/http/admin/wording.ts';
import { STATUS } from '../status-example.ts';

const FEATURES = reportFeatures('air-gapped', 'acme', {
  search: null,
  assistant: true,
  analytics: null,
  apiPlayground: null,
  staticExport: true,
  localSearch: true,
});
const NOW = new Date('2024-06-02T09:41:00Z');
const pageOf = async (changes: Partial<StatusReport> = {}): Promise<string> =>
  String(await adminPage({ ...STATUS, ...changes }, FEATURES, NOW));

describe('adminPage()', () => {
  it('shows the state, the versions, the features with reasons, and the last error with what to do', async () => {
    const page = await pageOf();
    for (const text of ['stale', 'v3.2.0', '1,170', '2024-05-01', 'pinned', 'server.port', 'link_expired', '8,123'])
      expect(page).toContain(text);
    expect(page).toContain('Generate a fresh one and set staticExport.bundleUrl to it.');
    for (const { id } of FEATURES.features) expect(page).toContain(`<code>${id}</code>`);
    expect(page).toContain('Overruled: features.assistant asks for it');
  });

  it('escapes whatever a bundle or a config can put into it', async () => {
    const evil = '"><img src=x onerror=alert(1)>';
    const page = await pageOf({
      notices: [evil],
      activity: evil,
      pending: [evil],
      deployment: { type: 'air-gapped', domain: evil },
      lastError: { at: STATUS.startedAt, code: 'internal', message: evil, next: evil },
      lastReload: { at: STATUS.startedAt, ok: false, error: `${evil} in the config` },
    });
    expect(page).not.toContain('<img');
    expect(page.match(/&lt;img src=x/g)?.length).toBeGreaterThanOrEqual(8);
  });

  it('needs no script and no other file', async () => {
    const page = await pageOf();
    expect(page).not.toMatch(/<script|javascript:|\bon\w+=|url\(|@import/i);
    expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  it('looks again by itself only while something is under way', async () => {
    expect(await pageOf({ activity: null })).not.toContain('http-equiv="refresh"');
    expect(await pageOf({ activity: 'unpacking a.zip' })).toContain('http-equiv="refresh"');
  });

  it('has a page for a daemon that has nothing yet', async () => {
    const page = await pageOf({ state: 'waiting', active: null, versions: [], lastError: null, lastReload: null });
    expect(page).toContain('No version is stored yet.');
    expect(page).not.toContain('Last error');
  });
});

describe('words for numbers', () => {
  it.each([
    [0, '0 bytes'],
    [1023, '1023 bytes'],
    [1536, '1.5 KiB'],
    [200 * 1024, '200 KiB'],
    [48_444_211, '46.2 MiB'],
  ])('%i is %s', (bytes, words) => {
    expect(bytesInWords(bytes)).toBe(words);
  });

  it.each([
    ['2024-06-02T09:40:30Z', 'just now'],
    ['2024-06-02T09:39:59Z', '1 minute ago'],
    ['2024-06-02T07:15:00Z', '2 hours ago'],
    ['2024-05-30T09:41:00Z', '3 days ago'],
    ['2024-06-03T00:00:00Z', 'just now'],
  ])('%s is %s', (at, words) => {
    expect(agoInWords(at, NOW)).toBe(words);
  });
});
