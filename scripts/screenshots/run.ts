import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { launchChromium } from '../../test/browser/reader.ts';
import { type DaemonProcess, openBench } from '../../test/helpers/daemon.ts';
import { TOKEN } from './console-examples.ts';
import { EXAMPLES, PICTURES, type Picture } from './pictures.ts';
import { smallPng } from './small-png.ts';

/**
 * `npm run screenshots [-- NAME...]`: takes the pictures of README and manual into docs/images, from the built program in
 * Chromium. Add a picture to `PICTURES`.
 */
const IMAGES = join(import.meta.dirname, '../../docs/images');

await mkdir(IMAGES, { recursive: true });
const wanted = process.argv.slice(2);
const chosen = PICTURES.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const browser = await launchChromium();
try {
  for (const [example, pictures] of Map.groupBy(chosen, (picture) => picture.example)) {
    const ends: (() => Promise<void>)[] = [];
    const bench = openBench((end) => ends.push(end));
    try {
      const daemon = await EXAMPLES[example](bench);
      const isSignedIn = pictures.some(({ listener }) => listener === 'admin');
      const profile = isSignedIn ? await signIn(browser, daemon) : {};
      for (const picture of pictures) await take(browser, daemon, picture, profile);
    } finally {
      for (const end of ends) await end();
    }
  }
} finally {
  await browser.close();
}

/** Signs in once for all pictures of an example, since each sign-in adds an audit line. @returns state of a signed-in context */
async function signIn(from: Browser, daemon: DaemonProcess): Promise<BrowserContextOptions> {
  const context = await from.newContext();
  const page = await context.newPage();
  await page.goto(`${daemon.admin}/sign-in`);
  await page.getByLabel('Admin token').fill(TOKEN);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  const storageState = await context.storageState();
  await context.close();
  return { storageState };
}

async function take(
  from: Browser,
  daemon: DaemonProcess,
  picture: Picture,
  profile: BrowserContextOptions,
): Promise<void> {
  const { name, listener, path, width, height, prepare, colorScheme } = picture;
  const context = await from.newContext({ ...profile, viewport: { width, height }, colorScheme });
  const page = await context.newPage();
  await page.addInitScript(keepRenamed, daemon.folder);
  // Do not wait until the network is idle on console pages, because their event stream continues.
  await page.goto(daemon[listener] + path, { waitUntil: listener === 'site' ? 'networkidle' : 'load' });
  await prepare?.(page);
  const text = await page.innerText('body');
  const left = text.includes(daemon.folder) ? daemon.folder : /127\.0\.0\.1:\d{5}/.exec(text)?.[0];
  if (left !== undefined) throw new Error(`the picture ${name} would show "${left}", which is another in each run`);
  const png = smallPng(await page.screenshot({ animations: 'disabled', caret: 'hide' }));
  await writeFile(join(IMAGES, `${name}.png`), png);
  console.log(`docs/images/${name}.png: ${(png.length / 1024).toFixed(0)} KiB`);
  await context.close();
}

/**
 * Runs in the page before its scripts: replaces random names by the same names in each run, also in later updates. Ports of five
 * digits are free ports of the system. The examples of the manual have four digits.
 */
function keepRenamed(folder: string): void {
  const rename = (): void => {
    const texts = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      const value = text.nodeValue ?? '';
      const renamed = value
        .replaceAll(folder, '/etc/docshelf')
        .replaceAll(/http:\/\/127\.0\.0\.1:\d{5}/g, 'https://bundles.acme.dev');
      // Write only differences, because each write is a change that triggers another check.
      if (renamed !== value) text.nodeValue = renamed;
    }
  };
  new MutationObserver(rename).observe(document, { subtree: true, childList: true, characterData: true });
}
