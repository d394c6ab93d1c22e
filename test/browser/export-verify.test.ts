import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { OpenBrowser } from '../../src/crawl/browser/chromium-session.ts';
import { type AnswerRequest, type LivePage, livePageOf } from '../../src/crawl/render/rendered-page.ts';
import { type LiveSite, verifySite } from '../../src/crawl/verify.ts';
import type { Finding } from '../../src/domain/job.ts';
import type { FileEntry } from '../../src/domain/release.ts';
import { mediaTypeOf } from '../../src/web/media-type.ts';
import { writeFiles } from '../helpers/write-files.ts';
import { type Answers, Browsers, hasChromium, MemorySite, ORIGIN, PIXEL, renderPath } from './export-site.ts';
import { whyNoChromium } from './reader.ts';

const WRITTEN: Readonly<Record<string, string | Uint8Array>> = {
  'index.html': '<link rel="stylesheet" href="style.css"><p>Start</p><a href="same.html">same</a>',
  'style.css': 'p { color: red }',
  'same.html': '<p>The same</p><script>console.error("as ever", 2); new Image().src = "/never-was.png"</script>',
  'text/index.html': '<p>Two words are gone</p>',
  'broken.html': '<img src="lost.png"><script>undefinedName()</script><p>Broken</p>',
  'outside.html': '<script src="https://cdn.test/a.js?key=1"></script><p>Outside</p>',
  'clean.html': '<script>fetch("/same")</script><p>Clean</p>',
  'moved.html': '<meta http-equiv="refresh" content="0; url=same.html">',
};
const LIVE: Answers = {
  '/': WRITTEN['index.html'] as string,
  '/style.css': WRITTEN['style.css'] as string,
  '/same.html': '<p>The same</p><script>console.error("as ever", 1); new Image().src = "/never-was.png"</script>',
  '/text/': '<p>Not one, but two words are gone</p>',
  '/broken.html': '<img src="lost.png"><p>Broken</p>',
  '/lost.png': { body: PIXEL },
  '/outside.html': WRITTEN['outside.html'] as string,
  'https://cdn.test/a.js?key=1': { headers: { 'content-type': 'text/javascript' } },
  '/clean.html': WRITTEN['clean.html'] as string,
  '/same': '{}',
  '/moved.html': { status: 302, headers: { location: '/same.html' } },
};

describe.skipIf(!hasChromium)(`verifySite()${whyNoChromium}`, () => {
  const browsers = new Browsers();
  const folders: string[] = [];
  afterAll(async () => {
    await browsers.close();
    for (const folder of folders) await rm(folder, { recursive: true });
  });

  async function verify(
    written: Readonly<Record<string, string | Uint8Array>>,
    live: LiveSite | null,
    openBrowser: OpenBrowser = (answer) => browsers.open(answer),
  ) {
    const folder = await mkdtemp(join(tmpdir(), 'docshelf-verify-'));
    folders.push(folder);
    const siteDir = await writeFiles(join(folder, 'site'), written);
    const files: FileEntry[] = [];
    for (const [path, content] of Object.entries(written)) {
      files.push({ path, size: content.length, sha256: '', type: mediaTypeOf(path) });
    }
    const findings: Finding[] = [];
    const picturesDir = join(folder, 'pictures');
    await verifySite({
      openBrowser,
      siteDir,
      files,
      live,
      picturesDir,
      find: (finding) => findings.push(finding),
      onProgress: () => undefined,
      signal: AbortSignal.timeout(100_000),
    });
    return { findings, picturesDir };
  }

  const liveSite = (answer: AnswerRequest, seen: (path: string) => LivePage | null = () => null): LiveSite => ({
    urlOf: (path) => `${ORIGIN}/${path.replace(/index\.html$/, '')}`,
    seen,
    answer,
  });

  it('reports differences from the live pages, with pictures of the greatest differences', async () => {
    const { findings, picturesDir } = await verify(WRITTEN, liveSite(new MemorySite(LIVE).answer));
    const reported = findings.map(({ kind, page, detail }) => [kind, page, detail]);
    expect(reported).toEqual([
      ['changed_text', 'text/index.html', expect.stringContaining('words missing: 4, words added: 1')],
      ['failed_request', 'broken.html', '/lost.png: 404'],
      ['console_error', 'broken.html', expect.stringContaining('undefinedName')],
      ['off_origin_request', 'outside.html', 'https://cdn.test/a.js'],
      ['clean_url_needed', '', '/same'],
      ['pictures', 'broken.html', '1-live.png, 1-written.png'],
      ['pictures', 'text/index.html', '2-live.png, 2-written.png'],
      ['pictures', 'outside.html', '3-live.png, 3-written.png'],
    ]);
    expect(await readdir(picturesDir)).toHaveLength(6);
    const picture = await readFile(join(picturesDir, '1-written.png'));
    expect(picture.subarray(1, 4).toString()).toBe('PNG');
  });

  it('sends no request to the live site for pages that the crawl has already rendered', async () => {
    const site = new MemorySite(LIVE);
    const session = await browsers.open(site.answer);
    const seen = new Map<string, LivePage>();
    for (const path of ['index.html', 'same.html']) {
      const shown = await renderPath(session, `/${path.replace('index.html', '')}`);
      // A crawl writes these values to its journal.
      seen.set(path, JSON.parse(JSON.stringify(livePageOf(shown))));
    }
    const requestsBefore = site.requestedPaths.length;
    const { 'index.html': start = '', 'same.html': same = '', 'style.css': style = '' } = WRITTEN;
    const { findings } = await verify(
      { 'index.html': start, 'same.html': same, 'style.css': style },
      liveSite(site.answer, (path) => seen.get(path) ?? null),
    );
    expect(findings).toEqual([]);
    expect(site.requestedPaths.length).toBe(requestsBefore);
  });

  it('reports all failed requests and errors if no live site exists', async () => {
    const { 'broken.html': broken = '' } = WRITTEN;
    const { findings } = await verify({ 'broken.html': broken }, null);
    expect(findings.map(({ kind }) => kind)).toEqual(['failed_request', 'console_error', 'pictures']);
  });

  it('reports a missing browser once, and does not fail', async () => {
    const without: OpenBrowser = (answer) => browsers.open(answer, { env: { PATH: '/nowhere' } });
    const { findings } = await verify(WRITTEN, null, without);
    expect(findings.map(({ kind }) => kind)).toEqual(['not_verified']);
  });
});
