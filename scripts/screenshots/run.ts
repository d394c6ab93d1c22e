import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../../test/browser/reader.ts';
import { type DaemonProcess, openBench } from '../../test/helpers/daemon.ts';
import { TOKEN } from './console-examples.ts';
import { EXAMPLES, PICTURES, type Picture } from './pictures.ts';
import { smallPng } from './small-png.ts';

/**
 * `npm run screenshots [-- NAME...]`: takes the pictures of README and manual into docs/images, from the built program in Chromium.
 * Another picture is another entry of `PICTURES`.
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
      for (const picture of pictures) await take(browser, daemon, picture);
    } finally {
      for (const end of ends) await end();
    }
  }
} finally {
  await browser.close();
}

async function take(from: Browser, daemon: DaemonProcess, picture: Picture): Promise<void> {
  const { name, listener, path, width, height, prepare, colorScheme } = picture;
  const context = await from.newContext({ viewport: { width, height }, colorScheme });
  const page = await context.newPage();
  if (listener === 'admin') {
    await page.goto(`${daemon.admin}/sign-in`);
    await page.getByLabel('Admin token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  }
  // A page of the console is never at rest: its stream of events goes on.
  await page.goto(daemon[listener] + path, { waitUntil: listener === 'site' ? 'networkidle' : 'load' });
  await prepare?.(page);
  const names = { [daemon.folder]: '/etc/docshelf', 'http://127\\.0\\.0\\.1:\\d+': 'https://bundles.acme.dev' };
  await page.evaluate(renameAll, names);
  const png = smallPng(await page.screenshot({ animations: 'disabled', caret: 'hide' }));
  await writeFile(join(IMAGES, `${name}.png`), png);
  console.log(`docs/images/${name}.png: ${(png.length / 1024).toFixed(0)} KiB`);
  await context.close();
}

/** Runs in the page: what is called by chance here is called in each picture alike. @param names by patterns of what there is */
function renameAll(names: Readonly<Record<string, string>>): void {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    for (const [pattern, name] of Object.entries(names))
      text.nodeValue = text.nodeValue?.replaceAll(new RegExp(pattern, 'g'), name) ?? '';
}
