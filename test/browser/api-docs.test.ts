import { beforeAll, describe, expect, it } from 'vitest';
import { reportViolations } from '../helpers/accessibility.ts';
import { apiWith, KEY } from '../http/api/api-example.ts';
import { hasChromium, listenWith, useChromium, whyNoChromium } from './reader.ts';

describe.skipIf(!hasChromium)(`the API documentation page in a browser${whyNoChromium}`, () => {
  const chromium = useChromium();
  let site: string;

  beforeAll(async () => {
    site = await listenWith(apiWith().app);
  });

  it('shows every call without external requests or browser errors, also without scripts', async () => {
    for (const javaScriptEnabled of [true, false]) {
      const reader = await chromium.open(site, { javaScriptEnabled });
      await reader.load('/docs');
      expect(await reader.page.locator('.call .address').allInnerTexts()).toEqual([
        'POST /v1/search/{domain}',
        'POST /v1/static-export/jobs',
        'GET /v1/static-export/jobs',
        'GET /v1/static-export/jobs/{jobId}',
        'DELETE /v1/static-export/jobs/{jobId}',
        'GET /v1/static-export/jobs/{jobId}/report',
        'GET /v1/static-export/jobs/{jobId}/report/pictures/{name}',
        'POST /v1/static-export/jobs/{jobId}/bundle',
      ]);
      expect(await reader.page.locator('form:visible').count()).toBe(javaScriptEnabled ? 8 : 0);
      const curl = await reader.page.locator('#search pre').first().innerText();
      expect(curl).toContain(`"${javaScriptEnabled ? site : '$DOCSHELF_URL'}/v1/search/acme"`);
      expect([reader.blocked, reader.failures, reader.complaints]).toEqual([[], [], []]);
    }
  });

  it('shows a list of all calls with their methods, beside the calls on a wide screen and above the calls on a phone', async () => {
    for (const [width, isBeside] of [
      [1280, true],
      [360, false],
    ] as const) {
      const reader = await chromium.open(site, { javaScriptEnabled: false, viewport: { width, height: 800 } });
      await reader.load('/docs');
      const { page } = reader;
      const links = page.getByRole('navigation', { name: 'Calls' }).getByRole('link');
      expect(await links.allInnerTexts()).toHaveLength(8);
      expect(await links.locator('.badge').allInnerTexts()).toEqual([
        'POST',
        'POST',
        'GET',
        'GET',
        'DELETE',
        'GET',
        'GET',
        'POST',
      ]);
      const boxOf = async (selector: string) => {
        const box = await page.locator(selector).first().boundingBox();
        if (box === null) throw new Error(`${selector} is not shown`);
        return { left: box.x, right: box.x + box.width, top: box.y, bottom: box.y + box.height };
      };
      const [navigation, calls] = [await boxOf('nav'), await boxOf('main')];
      const [request, response] = [
        await boxOf('#search .sides > :first-child'),
        await boxOf('#search .sides > :last-child'),
      ];
      expect(isBeside ? navigation.right <= calls.left : navigation.bottom <= calls.top, `${width} px`).toBe(true);
      expect(isBeside ? request.right <= response.left : request.bottom <= response.top, `${width} px`).toBe(true);
      expect(await page.locator('#search .sides > :last-child pre').first().isVisible()).toBe(true);
      await links.last().click();
      await page.locator('.call:target').waitFor();
      if (isBeside) expect((await boxOf('nav')).top, 'the navigation stays in sight').toBeGreaterThanOrEqual(0);
      expect(reader.complaints).toEqual([]);
    }
  });

  it('sends a test request by keyboard, with and without a key', async () => {
    const reader = await chromium.open(site);
    await reader.load('/docs');
    const call = reader.page.locator('#search');
    const send = call.getByRole('button', { name: 'Send' });
    await send.focus();
    await reader.page.keyboard.press('Enter');
    await call.locator('form pre').getByText('"unauthorized"').waitFor();
    await call.locator('output', { hasText: /^401/ }).waitFor();
    await call.getByRole('link', { name: 'assistantKey' }).press('Enter');
    await reader.page.getByLabel('assistantKey').fill(KEY);
    await send.press('Enter');
    await call.locator('output', { hasText: /^200/ }).waitFor();
    expect(await call.locator('form pre').innerText()).toContain('"/guides/keys#rotate-keys"');
    expect([reader.blocked, reader.complaints]).toEqual([[], []]);
    expect(reader.failures).toEqual([{ path: 'v1/search/acme', why: '401' }]);
  });

  it.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('passes the accessibility checks: %s, %i px', async (colorScheme, width) => {
    const reader = await chromium.open(site, { colorScheme, viewport: { width, height: 900 } });
    await reader.load('/docs');
    await reader.page.getByText('Example of 401').first().click();
    await reader.page.locator('#search button').click();
    await reader.page.locator('#search form pre').waitFor();
    expect(await reportViolations(reader.page)).toEqual([]);
  });
});
