import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as crawler from '../../src/crawl/index.ts';
import { verify } from '../../src/export/jobs/steps.ts';
import { mediaTypeOf } from '../../src/web/media-type.ts';
import { CrawlHome, crawlOf } from '../crawl/crawled-site.ts';
import { type Origin, type OriginFile, originOf } from '../crawl/origin.ts';
import type { RecordingSink } from '../export/recording-sink.ts';
import { writeFiles } from '../helpers/write-files.ts';
import { egressRulesOf } from '../net/http-client-of.ts';
import { PIXEL } from './export-site.ts';
import { hasChromium, whyNoChromium } from './reader.ts';

const picture = { type: 'image/png', body: PIXEL };
const json = (value: unknown) => ({ type: 'application/json', body: JSON.stringify(value) });
const page = (body: string) => `<!doctype html><html lang="en"><title>A page</title><body>${body}</body></html>`;
/** Client-rendered site: one document for every address, which a script fills. */
const SHELL = page('<div id="app"></div><script type="module" src="/app.js"></script>');

const FILES: Readonly<Record<string, OriginFile>> = {
  '/': page(`<p>Written by hand, and long enough to be what a reader reads here.</p><img src="/seen.png">
    <a href="/guide">Guide</a><div style="height:5000px"></div><div id="late"></div><p id="date"></p>
    <script>
      document.querySelector('#date').textContent = 'Today';
      new IntersectionObserver(([seen], self) => {
        if (!seen.isIntersecting) return;
        self.disconnect();
        const image = new Image();
        image.src = '/scrolled' + '-to.png';
        document.querySelector('#late').append(image);
      }).observe(document.querySelector('#late'));
    </script>`),
  '/seen.png': picture,
  '/scrolled-to.png': picture,
  '/guide': SHELL,
  '/made-by-a-script': SHELL,
  '/app.js': {
    type: 'text/javascript',
    body: `const name = location.pathname.slice(1).replace('.html', '');
      const { title, text } = await (await fetch('/api/pages/' + name)).json();
      document.title = title;
      document.querySelector('#app').innerHTML =
        '<h1>' + title + '</h1><p>' + text + '</p><a href="/made-by-a-script">more</a><img src="/made/' + name + '.png">';`,
  },
  '/api/pages/guide': json({ title: 'The guide', text: 'Which nobody reads who runs no scripts.' }),
  '/api/pages/made-by-a-script': json({ title: 'Another', text: 'That no markup leads to.' }),
  '/made/guide.png': picture,
  '/made/made-by-a-script.png': picture,
};

describe.skipIf(!hasChromium)(`a crawl with rendering${whyNoChromium}`, () => {
  let home: CrawlHome;
  let live: Origin;

  beforeAll(async () => {
    home = await CrawlHome.make();
    live = await originOf(FILES);
  });

  const crawl = (scripts: 'keep' | 'drop', job: string): Promise<RecordingSink> =>
    home.crawl(crawlOf(`${live.origin}/`, { render: { scripts } }), { job });

  /** Findings of opening the written site. */
  async function verified(site: RecordingSink, job: string) {
    const siteDir = join(home.dir, `site-${job}`);
    await writeFiles(siteDir, Object.fromEntries(site.files));
    const { listed } = await verify(
      {
        filesDir: join(home.dir, 'files'),
        settings: crawlOf(`${live.origin}/`),
        siteDir,
        files: [...site.files].map(([path, { length }]) => ({
          path,
          size: length,
          sha256: '',
          type: site.types.get(path) ?? mediaTypeOf(path),
        })),
        found: { counts: {}, listed: [] },
        egress: egressRulesOf(),
        browser: { sandbox: 'off', tabs: 2, pageTimeoutMs: 20_000, verify: 'auto' },
        journalDir: join(home.dir, `journal-${job}`),
        workDir: join(home.dir, `verify-${job}`),
        picturesDir: join(home.dir, `pictures-${job}`),
      },
      crawler,
      () => undefined,
      AbortSignal.timeout(100_000),
    );
    return listed;
  }

  it('stores all resources of its pages, follows links that scripts create, and requests each URL once', async () => {
    const site = await crawl('keep', 'keep');
    expect(site.findings).toEqual([]);
    expect(site.paths).toEqual([
      '404.html',
      'api/pages/guide',
      'api/pages/made-by-a-script',
      'app.js',
      'guide.html',
      'index.html',
      'made-by-a-script.html',
      'made/guide.png',
      'made/made-by-a-script.png',
      'scrolled-to.png',
      'seen.png',
    ]);
    const requestedPaths = live.requestedPaths();
    expect(requestedPaths.filter((path, at) => requestedPaths.indexOf(path) !== at)).toEqual([]);
    // A page with text stays unchanged, except for its references.
    expect(site.text('index.html')).toContain('<p id="date"></p>');
    expect(site.text('guide.html')).toContain('<p>Which nobody reads who runs no scripts.</p>');
    expect(site.text('guide.html')).toContain('src="app.js"');
    expect(await verified(site, 'keep')).toEqual([]);
  });

  it('removes the scripts only from pages that scripts have changed, with the option scripts: drop', async () => {
    const site = await crawl('drop', 'drop');
    expect(site.text('guide.html')).toContain('<h1>The guide</h1>');
    expect(site.text('guide.html')).not.toContain('<script');
    expect(site.text('index.html')).toContain('<script>');
    expect(await verified(site, 'drop')).toEqual([]);
  });

  it('reports findings and takes pictures if a stored page differs from the live page', async () => {
    const site = await crawl('drop', 'wrong');
    site.files.set('guide.html', Buffer.from(page('<p>Something else</p>')));
    site.files.delete('scrolled-to.png');
    const found = await verified(site, 'wrong');
    expect(found.map(({ kind, page: path }) => [kind, path])).toEqual([
      ['changed_text', 'guide.html'],
      ['pictures', 'guide.html'],
      ['failed_request', 'index.html'],
      ['pictures', 'index.html'],
    ]);
    expect(await readdir(join(home.dir, 'pictures-wrong'))).toHaveLength(4);
  });
});
