import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportFeatures } from '../../src/domain/feature.ts';
import type { StatusReport } from '../../src/domain/status.ts';
import { adminPage } from '../../src/http/admin/page.ts';
import { createSiteApp } from '../../src/http/site/site.ts';
import { BodyCache, SiteServer } from '../../src/serve/index.ts';
import { PAGE_LANGUAGES } from '../../src/web/words/index.ts';
import { tellBreaches } from '../helpers/accessibility.ts';
import { shelfWith } from '../http/site/shelf-example.ts';
import { STATUS } from '../http/status-example.ts';
import { hasChromium, launchChromium, whyNoChromium } from './reader.ts';

const LONG = `${'A sentence of some length that goes on. '.repeat(12)}${'x'.repeat(300)}`;
const FEATURES = reportFeatures('air-gapped', 'acme', {
  search: null,
  assistant: true,
  analytics: null,
  apiPlayground: null,
  staticExport: true,
  localSearch: true,
});

const ADMIN: Readonly<Record<string, Partial<StatusReport>>> = {
  stale: {},
  ready: { state: 'ready', lastError: null, notices: [], pending: [] },
  'waiting, with nothing yet': {
    state: 'waiting',
    active: null,
    versions: [],
    lastError: null,
    lastReload: null,
    activity: 'fetching',
  },
  off: { state: 'off', active: null, search: null },
  'a refused config': { lastReload: { at: STATUS.startedAt, ok: false, error: LONG }, notices: [LONG] },
  'several sites': {
    deployment: { type: 'air-gapped', domain: null },
    active: null,
    versions: [],
    sites: [
      { ...STATUS, deployment: { type: 'air-gapped', domain: 'acme' }, hosts: [], basePath: '/acme/' },
      {
        ...STATUS,
        state: 'waiting',
        active: null,
        deployment: { type: 'air-gapped', domain: 'cafe' },
        hosts: ['cafe.dev'],
        basePath: '/',
      },
    ] as unknown as NonNullable<StatusReport['sites']>,
  },
};

describe.skipIf(!hasChromium)(`docshelf's own pages can be read by everyone${whyNoChromium}`, () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launchChromium();
    page = await browser.newPage();
  });
  afterAll(() => browser.close());

  it.each(PAGE_LANGUAGES.map(({ tag }) => tag))('the notices in %s', async (tag) => {
    const server = new SiteServer(new BodyCache(1024));
    const headers = { 'accept-language': tag };
    for (const state of ['waiting', 'off'] as const) {
      const app = createSiteApp({ server, state: () => state, features: () => FEATURES });
      expect(await breachesOf(await (await app.request('/a', { headers })).text())).toEqual([]);
    }
  });

  it('the notice: nothing at this address (404)', async () => {
    const response = await shelfWith().request('/nowhere');
    expect([response.status, await breachesOf(await response.text())]).toEqual([404, []]);
  });

  it.each(Object.entries(ADMIN))('the status page: %s', async (_name, changes) => {
    const html = await adminPage({ ...STATUS, ...changes }, FEATURES, new Date('2024-06-02T09:41:00Z'));
    expect(await breachesOf(String(html))).toEqual([]);
  });

  /** In both schemes, on a screen and on a phone. */
  async function breachesOf(html: string): Promise<string[]> {
    // Without what would load it again.
    await page.setContent(html.replace(/<meta http-equiv="refresh"[^>]*>/, ''));
    const found: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 844 });
        found.push(...(await tellBreaches(page)).map((breach) => `${colorScheme}, ${width}: ${breach}`));
      }
    }
    return found;
  }
});
