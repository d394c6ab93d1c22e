import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditLine } from '../../src/http/audit/audit-line.ts';
import { AuditTrail } from '../../src/http/audit/audit-trail.ts';
import { type Listener, openListener } from '../../src/http/listener/listener.ts';
import { tellBreaches } from '../helpers/accessibility.ts';
import { appWith, TOKEN } from '../http/admin/admin-example.ts';
import { hasChromium, launchChromium, whyNoChromium } from './reader.ts';

const LINE: AuditLine = {
  at: '2026-11-23T14:37:04.154Z',
  by: 'session',
  id: '1a2b3c4d',
  client: '10.1.2.3',
  requestId: 'r-1',
  action: 'upload',
  site: 'a-rather-long-domain-of-a-site',
  organization: null,
  target: 'acme-export-with-a-very-long-name-that-goes-on-and-on-2024-06-01.tar.gz',
  from: 'v1',
  to: null,
  result: 'bad_signature',
  error: 'Cannot trust "acme-export-2024-06-01.tar.gz": its signature does not hold',
};

describe.skipIf(!hasChromium)(`keys and changes can be read by everyone${whyNoChromium}`, () => {
  let browser: Browser;
  let listener: Listener;
  let page: Page;
  beforeAll(async () => {
    const audit = new AuditTrail(
      {
        append: async () => undefined,
        read: async () => ({ lines: [LINE, { ...LINE, result: 'ok', error: null }], before: LINE.at }),
      },
      () => undefined,
    );
    const { app } = appWith({ audit });
    listener = await openListener({ name: 'admin', host: '127.0.0.1', port: 0, fetch: app.fetch });
    browser = await launchChromium();
    page = await browser.newPage();
    await page.goto(`${listener.url}/sign-in`);
    await page.getByLabel('Admin token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });
  afterAll(async () => {
    await browser.close();
    await listener.stop(0);
  });

  const looksWell = async (name: string) => {
    for (const [width, colorScheme] of [
      [390, 'light'],
      [1280, 'dark'],
      [2560, 'light'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      expect([name, width, await tellBreaches(page)]).toEqual([name, width, []]);
      expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, width]);
    }
  };

  it('organizations, keys and changes, at every size', async () => {
    for (const [name, path] of [
      ['orgs', '/organizations'],
      ['keys', '/organizations/acme/keys'],
      ['audit', '/audit'],
    ] as const) {
      await page.goto(listener.url + path);
      await looksWell(name);
    }
  });

  it('a key is made by keyboard, shown, copied, and stays on the page', async () => {
    await page.goto(`${listener.url}/organizations/acme/keys`);
    await page.getByLabel('Name', { exact: true }).focus();
    await page.keyboard.type('website');
    await page.keyboard.press('Enter');
    await page.getByText('shown this once').waitFor();
    await page.getByRole('button', { name: 'Copy the key' }).press('Enter');
    await page.getByText(/Copied|selected/).waitFor();
    await looksWell('made');
    expect(await page.locator('#key').textContent()).toBe('svc_secret');
  });
});
