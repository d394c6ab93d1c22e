import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openListener } from '../../src/http/listener/listener.ts';
import { apiWith } from '../http/api/api-example.ts';
import { hasChromium, launchChromium, Reader, whyNoChromium } from './reader.ts';

describe.skipIf(!hasChromium)(`the description of the API in a browser${whyNoChromium}`, () => {
  const opened: (() => Promise<unknown>)[] = [];
  let browser: Browser;
  let site: string;

  beforeAll(async () => {
    browser = await launchChromium();
    opened.push(() => browser.close());
    const { app } = apiWith();
    const listener = await openListener({
      name: 'api',
      host: '127.0.0.1',
      port: 0,
      fetch: (...args) => app.fetch(...args),
    });
    opened.push(() => listener.stop(0));
    site = listener.url;
  });
  afterAll(async () => {
    for (const close of opened.reverse()) await close();
  });

  it('shows every call, with nothing from elsewhere and without a complaint', async () => {
    const reader = await Reader.open(browser, site);
    await reader.load('/docs');
    await reader.page.locator('.opblock').first().waitFor();
    const shown = await reader.page.locator('.opblock-summary-path').allInnerTexts();
    expect(shown.map((path) => path.replaceAll('\u200b', ''))).toEqual([
      '/v1/search/{domain}',
      '/v1/static-export/jobs',
      '/v1/static-export/jobs',
      '/v1/static-export/jobs/{jobId}',
      '/v1/static-export/jobs/{jobId}',
      '/v1/static-export/jobs/{jobId}/report',
      '/v1/static-export/jobs/{jobId}/report/pictures/{name}',
      '/v1/static-export/jobs/{jobId}/bundle',
    ]);
    await reader.page.locator('.opblock-post .opblock-summary-control').nth(1).click();
    await reader.page.getByText('2024-06-01').first().waitFor();
    // Styled: without its style sheet the row of a call has no colour of its own.
    const colour = await reader.page
      .locator('.opblock-post .opblock-summary-method')
      .first()
      .evaluate((element) => getComputedStyle(element).backgroundColor);
    expect(colour).toBe('rgb(73, 204, 144)');
    expect([reader.blocked, reader.failures, reader.complaints]).toEqual([[], [], []]);
    await reader.close();
  });

  it('sends a request that a reader tries out, and shows its answer', async () => {
    const reader = await Reader.open(browser, site);
    await reader.load('/docs');
    await reader.page.locator('.opblock-get .opblock-summary-control').first().click();
    await reader.page.getByRole('button', { name: 'Try it out' }).click();
    await reader.page.getByRole('button', { name: 'Execute' }).click();
    await reader.page.locator('.live-responses-table').getByText('"unauthorized"', { exact: true }).waitFor();
    expect([reader.blocked, reader.complaints]).toEqual([[], []]);
    expect(reader.failures).toEqual([{ path: 'v1/static-export/jobs', why: '401' }]);
    await reader.close();
  });
});
