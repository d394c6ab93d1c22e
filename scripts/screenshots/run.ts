import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { launchChromium } from '../../test/browser/reader.ts';
import { openBench } from '../../test/helpers/daemon.ts';
import { PICTURES } from './pictures.ts';
import { smallPng } from './small-png.ts';
import { startExample } from './start-example.ts';

/**
 * `npm run screenshots [-- NAME...]`: takes the pictures of README and manual into docs/images, from the built program in Chromium.
 * Another picture is another entry of `PICTURES`.
 */
const IMAGES = join(import.meta.dirname, '../../docs/images');

const ends: (() => Promise<void>)[] = [];
const bench = openBench((end) => ends.push(end));
try {
  const daemon = await startExample(bench);
  const browser = await launchChromium();
  bench.onEnd(() => browser.close());
  await mkdir(IMAGES, { recursive: true });
  const wanted = process.argv.slice(2);
  for (const { name, listener, path, width, height, prepare, colorScheme } of PICTURES) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const context = await browser.newContext({ viewport: { width, height }, colorScheme });
    const page = await context.newPage();
    await page.goto(daemon[listener] + path, { waitUntil: 'networkidle' });
    await prepare?.(page);
    const png = smallPng(await page.screenshot({ animations: 'disabled', caret: 'hide' }));
    await writeFile(join(IMAGES, `${name}.png`), png);
    console.log(`docs/images/${name}.png: ${(png.length / 1024).toFixed(0)} KiB`);
    await context.close();
  }
} finally {
  for (const end of ends) await end();
}
