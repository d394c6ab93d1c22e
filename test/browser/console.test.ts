import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Listener, openListener } from '../../src/http/listener/listener.ts';
import { tellBreaches } from '../helpers/accessibility.ts';
import { appWith, observedAt, TOKEN } from '../http/admin/admin-example.ts';
import { RESULT, STATES } from '../http/console/states.ts';
import { STATUS } from '../http/status-example.ts';
import { hasChromium, launchChromium, whyNoChromium } from './reader.ts';

/** A phone, a screen and a wall. */
const LOOKS = [
  { width: 390, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
  { width: 2560, colorScheme: 'light' },
] as const;
/** Rules of axe take seconds on a long page, which is made of the same rows as a short one. */
const IS_LONG = /many|200/;

describe.skipIf(!hasChromium)(`the console can be read by everyone${whyNoChromium}`, () => {
  const shown = { status: STATUS };
  let browser: Browser;
  let listener: Listener;
  let page: Page;
  beforeAll(async () => {
    const findings = {
      policy: 'on',
      origins: [{ origin: `https://${'cdn.'.repeat(40)}example`, reports: 1234 }],
      ruleFaults: [{ file: '_redirects', line: 12, reason: `"${'/x'.repeat(120)}" says no target` }],
      ruleFaultCount: 1,
    } as const;
    const { app } = appWith({
      status: async () => shown.status,
      observe: () => observedAt('https://acme.example/', findings, async () => [RESULT]),
    });
    listener = await openListener({ name: 'admin', host: '127.0.0.1', port: 0, fetch: app.fetch });
    browser = await launchChromium();
    page = await browser.newPage();
  });
  afterAll(async () => {
    await browser.close();
    await listener.stop(0);
  });

  it('the sign-in, with a wrong token and the right one', async () => {
    await page.goto(`${listener.url}/sign-in`);
    expect(await breaches()).toEqual([]);
    await page.keyboard.type('not-the-token');
    await page.keyboard.press('Enter');
    await page.getByText('You are not signed in').waitFor();
    expect(await breaches()).toEqual([]);
    await page.getByLabel('Admin token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });

  it.each(Object.entries(STATES))('the state: %s', async (name, status) => {
    shown.status = status;
    await page.goto(listener.url);
    expect(await breaches(IS_LONG.test(name) ? LOOKS.slice(0, 1) : LOOKS)).toEqual([]);
    for (const { width } of LOOKS) {
      await page.setViewportSize({ width, height: 844 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
  });

  it('what changed between versions', async () => {
    shown.status = STATUS;
    await page.goto(`${listener.url}/sites/acme`);
    await page.getByRole('button', { name: 'Compare' }).press('Enter');
    await page.getByText('3 more, 1 gone').waitFor();
    expect(await breaches()).toEqual([]);
    for (const { width } of LOOKS) {
      await page.setViewportSize({ width, height: 844 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
  });

  it.each([
    ['a row of the manual', 'manual/errors#window_too_large', '#window_too_large'],
    ['a search', 'sites/acme/search?q=key', 'mark'],
    ['what pages and rules of a site do', 'sites/acme', '#rules'],
  ])('%s', async (_, path, what) => {
    shown.status = STATUS;
    await page.goto(`${listener.url}/${path}`);
    await page.locator(what).first().waitFor();
    expect(await breaches(LOOKS.slice(0, 2))).toEqual([]);
    for (const { width } of LOOKS) {
      await page.setViewportSize({ width, height: 844 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
  });

  async function breaches(looks: readonly (typeof LOOKS)[number][] = LOOKS): Promise<string[]> {
    const found: string[] = [];
    for (const { width, colorScheme } of looks) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      found.push(...(await tellBreaches(page)).map((breach) => `${colorScheme}, ${width}: ${breach}`));
    }
    return found;
  }
});
