import { launchChromium } from '../../test/browser/reader.ts';
import { corpus } from '../../test/helpers/corpus.ts';
import { openBench } from '../../test/helpers/daemon.ts';
import { benchManuals } from './manuals.ts';
import { benchPaint } from './paint.ts';
import { benchQuality } from './quality.ts';
import { benchSites } from './side-by-side.ts';
import { benchTyping } from './typing.ts';

/**
 * `DOCSHELF_CORPUS=<folder> npm run bench:widget [-- typing | paint | sites | quality | manuals]`: the search box of the running
 * program in Chromium. The last three also measure Pagefind and its component UI. Prints tables, writes nothing.
 */
const PARTS = {
  typing: benchTyping,
  paint: benchPaint,
  sites: benchSites,
  quality: benchQuality,
  manuals: benchManuals,
};

if (corpus === undefined) throw new Error('DOCSHELF_CORPUS must name the folder that has bundles/ and search/');
const wanted = process.argv.slice(2);
for (const [name, part] of Object.entries(PARTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const ends: (() => Promise<void>)[] = [];
  const bench = openBench((end) => ends.push(end));
  try {
    await part(bench, async () => {
      const browser = await launchChromium();
      bench.onEnd(() => browser.close());
      return browser;
    });
  } finally {
    for (const end of ends) await end();
  }
}
