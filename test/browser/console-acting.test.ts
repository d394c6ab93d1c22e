import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle, folderOf } from '../acceptance/bundles.ts';
import { gz, rawTar } from '../helpers/archives.ts';
import { openBench } from '../helpers/daemon.ts';
import { hasChromium, launchChromium, whyNoChromium } from './reader.ts';

/** Operators at a running daemon: each action by keyboard, each without JavaScript, and two of them at once. */

const TOKEN = 'correct-horse-battery';
const STEP_MS_MAX = 60_000;

describe.skipIf(!hasChromium)(`the console, acting${whyNoChromium}`, () => {
  const bench = openBench(afterAll);
  let browser: Browser;
  let admin: string;
  let folder: string;

  beforeAll(async () => {
    browser = await launchChromium();
    bench.onEnd(() => browser.close());
    folder = await bench.folder();
    const daemon = await bench.start(
      {
        deployment: { domain: 'acme' },
        staticExport: { enabled: true },
        admin: { token: TOKEN },
        search: { enabled: false },
      },
      { folder },
    );
    admin = daemon.admin;
    await folderOf(folder, {
      ...Object.fromEntries(['one', 'two', 'three', 'four'].map((mark) => [`${mark}.tar.gz`, bundle(mark)])),
      'evil.tar.gz': gz(rawTar([{ name: '../evil<b>.html', body: 'x' }])),
    });
  });

  async function operator(profile: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await browser.newContext(profile)).newPage();
    page.setDefaultTimeout(STEP_MS_MAX);
    await page.goto(`${admin}/sites/acme`);
    await press(page, 'link', 'Sign in');
    await page.getByLabel('Admin token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/sites/acme');
    return page;
  }

  /** By keyboard: what cannot be reached and pressed by it is not found. */
  async function press(page: Page, role: 'button' | 'link', name: string): Promise<void> {
    const control = page.getByRole(role, { name, exact: true });
    await control.focus();
    await page.keyboard.press('Enter');
  }

  async function takeIn(page: Page, name: string, version: string): Promise<void> {
    await page.getByLabel('Version', { exact: true }).fill(version);
    await page.getByLabel('Archives', { exact: true }).setInputFiles(join(folder, `${name}.tar.gz`));
    await press(page, 'button', 'Take in');
  }

  const told = (page: Page, text: string): Promise<void> => page.getByText(text).first().waitFor();

  it.each<[string, boolean]>([
    ['by keyboard', true],
    ['without JavaScript', false],
  ])('does all it can do %s', async (_, javaScriptEnabled) => {
    const page = await operator({ javaScriptEnabled });
    await takeIn(page, 'one', 'v1');
    await told(page, 'version v1 is active');
    await takeIn(page, 'two', 'v2');
    await told(page, 'version v2 is active');
    await takeIn(page, 'evil', 'v3');
    await told(page, 'evil.tar.gz was refused');
    await told(page, 'name_dotdot');
    expect(await page.content()).toContain('../evil&lt;b&gt;.html');
    if (!javaScriptEnabled) await page.goto(`${admin}/sites/acme`);

    await press(page, 'button', 'Activate v1');
    await told(page, 'Version v1 is active');
    await press(page, 'button', 'Roll back');
    await told(page, 'Rolled back: version v2 is active');
    await press(page, 'button', 'Preview v1');
    await told(page, 'Whoever has this link reads version v1 for a day');
    await page.locator('#remove-v1 summary').focus();
    await page.keyboard.press('Enter');
    await press(page, 'button', 'Remove v1 for good');
    await told(page, 'Version v1 is removed');
    await press(page, 'link', 'All sites');
    await press(page, 'button', 'Reload the config');
    await told(page, 'The config was taken anew');
    await press(page, 'button', 'Sign out');
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    await page.context().close();
  });

  it('shows two operators what the other does, and loses neither their focus nor what they have opened and typed', async () => {
    const [one, other] = [await operator(), await operator()];
    await takeIn(one, 'three', 'v3');
    await told(one, 'version v3 is active');
    // It came by itself.
    await other.locator('#version-v3').waitFor();
    await other.getByLabel('Version', { exact: true }).fill('v4-typed');
    const details = other.locator('#remove-v2');
    await details.locator('summary').focus();
    await other.keyboard.press('Enter');
    await other.evaluate('window.isSame = true');

    await Promise.all([takeIn(one, 'four', 'v4'), other.locator('#version-v4').waitFor()]);
    await told(one, 'version v4 is active');
    expect(await other.getByLabel('Version', { exact: true }).inputValue()).toBe('v4-typed');
    expect(await details.evaluate((element) => 'open' in element && element.open)).toBe(true);
    expect(await other.evaluate('document.activeElement.parentElement.id')).toBe('remove-v2');
    expect(await other.evaluate('window.isSame')).toBe(true);

    await press(other, 'button', 'Activate v3');
    await told(other, 'Version v3 is active');
    // Where its button was there is none any more.
    expect(await other.evaluate('document.activeElement.id')).toBe('said');
    await one.locator('#version-v3').getByText('active', { exact: true }).waitFor();
    expect(await one.locator('.uploads li').count()).toBe(2);

    await press(other, 'button', 'Roll back');
    await told(other, 'Rolled back: version v4 is active');
    expect(await other.evaluate('document.activeElement.textContent')).toBe('Roll back');
    // The update that follows keeps the message.
    await other.locator('#version-v4').getByText('active', { exact: true }).waitFor();
    await told(other, 'Rolled back: version v4 is active');
    expect(await other.evaluate('window.isSame')).toBe(true);
    expect(await other.getByLabel('Version', { exact: true }).inputValue()).toBe('v4-typed');
  });

  it('shows a form that is refused as its page does, and sends none twice', async () => {
    const page = await operator();
    await page.context().clearCookies();
    await press(page, 'button', 'Roll back');
    await told(page, 'Cannot act: nobody is signed in here');
    expect(new URL(page.url()).pathname).toBe('/sites/acme');
    await page.reload();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    await page.context().close();
  });
});
