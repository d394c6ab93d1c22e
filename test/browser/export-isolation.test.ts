import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Browsers, hasChromium, MemorySite, ORIGIN, PIXEL, renderPath } from './export-site.ts';
import { whyNoChromium } from './reader.ts';

const picture = { headers: { 'content-type': 'image/png' }, body: PIXEL };

/** Page with a frame of another site, which contains a frame of a third site. */
const framed = (name: string) => ({
  [`/${name}.html`]: `<p>${name}</p><iframe src="https://other.test/${name}.html"></iframe>`,
  [`https://other.test/${name}.html`]: `<img src="/${name}.png"><iframe src="https://third.test/${name}.html"></iframe>`,
  [`https://other.test/${name}.png`]: picture,
  [`https://third.test/${name}.html`]: `<img src="/${name}.png">`,
  [`https://third.test/${name}.png`]: picture,
});

describe.skipIf(!hasChromium)(`a rendered page with frames of other sites${whyNoChromium}`, () => {
  const browsers = new Browsers();
  afterEach(async () => {
    vi.restoreAllMocks();
    await browsers.close();
  });

  it('sends the requests of its frames to the crawler, although the frames have separate browser processes', async () => {
    const site = new MemorySite({ ...framed('a'), ...framed('b') });
    const flags = new Set<string>();
    const tempDir = await browsers.folder();
    const session = await browsers.open(
      (request, signal) => {
        for (const flag of flagsOfBrowserIn(tempDir)) flags.add(flag);
        return site.answer(request, signal);
      },
      { tempDir, tabs: 2 },
    );
    const [a, b] = await Promise.all(['/a.html', '/b.html'].map((path) => renderPath(session, path)));
    for (const [page, name] of [
      [a, 'a'],
      [b, 'b'],
    ] as const) {
      expect(page?.state).toBe('settled');
      const requests = site.requests.filter(({ pageUrl }) => pageUrl === `${ORIGIN}/${name}.html`);
      const requestedUrls = requests.map(({ url }) => url);
      // Leave out the document of the nested frame, because its process is not known yet when the browser requests it.
      const of = (each: string): string[] => [
        `https://other.test/${each}.html`,
        `https://other.test/${each}.png`,
        `https://third.test/${each}.png`,
      ];
      expect(requestedUrls).toEqual(expect.arrayContaining([`${ORIGIN}/${name}.html`, ...of(name)]));
      const others = of(name === 'a' ? 'b' : 'a');
      expect(requestedUrls.filter((url) => others.includes(url))).toEqual([]);
      expect(site.requestedPaths).toContain(`https://third.test/${name}.html`);
    }
    expect(flags).toContain('--site-per-process');
    expect(
      [...flags].filter((flag) =>
        /^--disable-(?:site-isolation|features=.*(?:IsolateOrigins|site-per-process))/.test(flag),
      ),
    ).toEqual([]);
  });

  it('is not opened as root with the sandbox on, and the error suggests another user', async () => {
    vi.spyOn(process, 'getuid').mockReturnValue(0);
    await expect(browsers.open(new MemorySite({}).answer, { sandbox: 'auto' })).rejects.toMatchObject({
      code: 'browser_failed',
      message: expect.stringContaining('root'),
      next: expect.stringContaining('another user'),
    });
  });
});

function flagsOfBrowserIn(tempDir: string): string[] {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const flags = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const isBrowser = flags.some((flag) => flag.startsWith(`--user-data-dir=${tempDir}`));
      if (isBrowser && !flags.some((flag) => flag.startsWith('--type='))) return flags;
    } catch {
      // The process has ended already.
    }
  }
  return [];
}
