import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BuiltSite } from '../corpus/built-site.ts';
import { bundleFile, corpus, importBundle, newHome, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { packTarGz } from '../helpers/pack-tar-gz.ts';
import { readArchive } from '../helpers/read-archive.ts';
import { spread } from '../helpers/spread.ts';
import { hasChromium, type Reader, useChromium, whyNoChromium } from './reader.ts';
import { faultsOf, PROTOCOLS, writePair } from './swapped-site.ts';

const CLICKS = 4;
const START = '/guide/markdown';
const NEW = 'Anew: ';

describe.skipIf(corpus === undefined || !hasChromium)(
  `a VitePress site in a browser${whyNoCorpus}${whyNoChromium}`,
  () => {
    const bench = openBench(afterAll);
    const chromium = useChromium();
    let folder: string;
    let before: BuiltSite;
    let after: BuiltSite;

    beforeAll(async () => {
      const files = await readArchive(bundleFile('vitepress-docs.zip'));
      before = new BuiltSite(files);
      after = new BuiltSite(rebuilt(files));
      folder = await newHome(bench, { search: { enabled: false } });
      await importBundle(bench, folder, bundleFile('vitepress-docs.zip'), ['--version', 'v1']);
      const archive = join(await bench.folder(), 'anew.tar.gz');
      await packTarGz({ files: [...after.files].map(([path, bytes]) => ({ path, bytes })), to: archive });
      await importBundle(bench, folder, archive, ['--version', 'v2']);
    });

    it.each([
      ['HTTP/1.1', {}, 'http/1.1'],
      ['HTTPS and HTTP/2', { tls: { certFile: 'tls.crt', keyFile: 'tls.key' } }, 'h2'],
    ])(
      'works over %s after an update: an open tab uses the scripts of its version, and a new tab uses the new scripts',
      async (_, server, spoken) => {
        await writePair(folder);
        const daemon = await bench.start(
          { staticExport: { version: 'v1' }, search: { enabled: false }, log: { access: false }, server },
          { folder },
        );
        await daemon.untilServing('v1');
        const open = await chromium.open(daemon.site, { ignoreHTTPSErrors: true });
        await open.load(START);
        expect(await open.page.evaluate(PROTOCOLS)).toEqual([spoken]);
        const links = (await sidebarLinks(open)).filter((href) => before.fileAt(href.slice(1)) !== null);
        const [first = '', ...rest] = spread(links, 2 * CLICKS);
        await follow(open, first, before);

        await writePair(folder);
        await daemon.rewriteConfig({ staticExport: { version: 'v2' } });
        await daemon.untilServing('v2');
        // The page knows only the script names of its own version, and has not loaded most of them yet.
        for (const href of rest.slice(0, CLICKS)) await follow(open, href, before);
        expect(faultsOf(open, before)).toEqual([]);

        await open.load(START);
        for (const href of rest.slice(0, CLICKS)) await follow(open, href, after);
        expect(await open.page.title()).toContain(NEW);
        expect(faultsOf(open, after)).toEqual([]);
        await daemon.kill();
      },
    );
  },
);

async function sidebarLinks({ page }: Reader): Promise<string[]> {
  const hrefs = await page
    .locator('aside a[href^="/"]')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
  return [...new Set(hrefs)].filter((href) => href !== START);
}

async function follow(reader: Reader, href: string, site: BuiltSite): Promise<void> {
  expect([href, await reader.follow('aside', href)]).toEqual([href, true]);
  await reader.untilTitled(site.titleAt(href.slice(1)));
}

/** Digest in the name of a script or style, and in each reference to it. */
const DIGEST = /[./]([\w-]{8})(?:\.lean)?\.(?:js|css)$/;

/** The same site from another build: each script and style has another name, and each page another title. */
function rebuilt(files: ReadonlyMap<string, Buffer>): ReadonlyMap<string, Buffer> {
  const digests = new Set(
    [...files.keys()].flatMap((path) => (path.startsWith('assets/') ? (DIGEST.exec(path)?.slice(1) ?? []) : [])),
  );
  expect(digests.size).toBeGreaterThan(100);
  const all = new RegExp([...digests].join('|'), 'g');
  const renamed = (text: string) => text.replace(all, (digest) => [...digest].reverse().join(''));
  const made = new Map<string, Buffer>();
  for (const [path, bytes] of files) {
    const isText = /\.(?:html|js|css|json)$/.test(path);
    const text = isText ? renamed(bytes.toString('utf8')) : '';
    const titled = text
      .replaceAll('<title>', `<title>${NEW}`)
      .replaceAll('JSON.parse(`{"title":"', `JSON.parse(\`{"title":"${NEW}`);
    made.set(renamed(path), isText ? Buffer.from(titled) : bytes);
  }
  return made;
}
