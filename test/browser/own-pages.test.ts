import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { BodyCache, SiteServer } from '../../src/site/index.ts';
import { PAGE_LANGUAGES } from '../../src/web/words/index.ts';
import { reportViolations } from '../helpers/accessibility.ts';
import { featuresOf } from '../helpers/features.ts';
import { shelfWith } from '../http/site/shelf-example.ts';
import { siteApp } from '../http/site/site-example.ts';
import { hasChromium, useChromium, whyNoChromium } from './reader.ts';

const FEATURES = featuresOf('acme', 'air-gapped', { assistant: true });

describe.skipIf(!hasChromium)(`built-in pages of docshelf${whyNoChromium}`, () => {
  const chromium = useChromium();
  let page: Page;
  beforeAll(async () => {
    page = await chromium.browser.newPage();
  });

  it.each(PAGE_LANGUAGES.map(({ tag }) => tag))(
    'pass the accessibility checks with notices in the language %s',
    async (tag) => {
      const server = new SiteServer(new BodyCache(1024), { current: null });
      const headers = { 'accept-language': tag };
      for (const state of ['waiting', 'off'] as const) {
        const app = siteApp({ server, state: () => state, features: () => FEATURES });
        expect(await breachesOf(await (await app.request('/a', { headers })).text())).toEqual([]);
      }
    },
  );

  it('pass the accessibility checks with the 404 notice', async () => {
    const response = await shelfWith().request('/nowhere');
    expect([response.status, await breachesOf(await response.text())]).toEqual([404, []]);
  });

  /** Checks both color schemes, on a screen and on a phone. */
  async function breachesOf(html: string): Promise<string[]> {
    await page.setContent(html);
    const found: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 844 });
        found.push(...(await reportViolations(page)).map((breach) => `${colorScheme}, ${width}: ${breach}`));
      }
    }
    return found;
  }
});
