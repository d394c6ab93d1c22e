import { readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { Browsers, hasChromium, MemorySite, ORIGIN, renderPath } from './export-site.ts';
import { whyNoChromium } from './reader.ts';

/** Ids of browser processes (without children) that have a profile in this folder. */
function browsersIn(tempDir: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return command.includes(`--user-data-dir=${tempDir}`) && !command.includes('--type=');
      } catch {
        return false;
      }
    })
    .map(Number);
}

describe.skipIf(!hasChromium || process.platform !== 'linux')(
  `export browsers that exit or fail${whyNoChromium}`,
  () => {
    let browsers = new Browsers();
    afterEach(async () => {
      await browsers.close();
      browsers = new Browsers();
    });

    it('are restarted, and render the current page again', async () => {
      const tempDir = await browsers.folder();
      const site = new MemorySite({ '/a.html': '<p>There</p>' });
      let killed = 0;
      const session = await browsers.open(
        async (request, signal) => {
          if (request.url.endsWith('/a.html') && killed === 0) {
            for (const pid of browsersIn(tempDir)) {
              killed += 1;
              process.kill(pid, 'SIGKILL');
            }
          }
          return site.answer(request, signal);
        },
        { tempDir },
      );
      const pages = await Promise.all(['/a.html', '/a.html?2', '/a.html?3'].map((path) => renderPath(session, path)));
      expect(killed).toBe(1);
      expect(pages[0]).toMatchObject({ state: 'settled', dom: { text: 'There' } });
      expect(pages.map(({ state }) => state)).toEqual(['settled', 'settled', 'settled']);
      await session.close();
      expect(browsersIn(tempDir)).toEqual([]);
      expect(await readdir(tempDir)).toEqual([]);
    });

    it('are no longer restarted if they exit every time', async () => {
      const tempDir = await browsers.folder();
      const session = await browsers.open(
        async () => {
          for (const pid of browsersIn(tempDir)) process.kill(pid, 'SIGKILL');
          throw new Error('no answer');
        },
        { tempDir },
      );
      const crashed = await renderPath(session, '/a.html');
      expect(crashed).toMatchObject({ state: 'crashed', dom: null });
      await expect(Promise.all([renderPath(session, '/b.html'), renderPath(session, '/c.html')])).rejects.toMatchObject(
        {
          code: 'browser_failed',
        },
      );
    });

    it('continue after a page that uses all memory, and report this page as crashed', async () => {
      const site = new MemorySite({
        '/eats.html': '<script>const all = []; for (;;) all.push(new Uint8Array(5e7).fill(1))</script>',
        '/a.html': '<p>There</p>',
      });
      const session = await browsers.open(site.answer, { tabs: 1 });
      expect(await renderPath(session, '/eats.html')).toMatchObject({ state: 'crashed', dom: null });
      expect(site.requestedPaths.filter((path) => path === '/eats.html')).toHaveLength(1);
      expect(await renderPath(session, '/a.html')).toMatchObject({ state: 'settled' });
    });

    it('stop rendering a page on an abort, and reject with the reason of the signal', async () => {
      const site = new MemorySite({
        '/waits.html': '<script>fetch("/never")</script>',
        '/never': 'never',
        '/a.html': 'x',
      });
      const session = await browsers.open(site.answer, { tabs: 1 });
      const reason = new Error('enough');
      const controller = new AbortController();
      const rendering = session.render(`${ORIGIN}/waits.html`, { signal: controller.signal });
      setTimeout(() => controller.abort(reason), 300);
      await expect(rendering).rejects.toBe(reason);
      expect(await renderPath(session, '/a.html')).toMatchObject({ state: 'settled' });
    });

    it('cause browser_missing if no browser exists, and browser_failed if the program is not a browser', async () => {
      const site = new MemorySite({});
      await expect(browsers.open(site.answer, { env: { PATH: '/nowhere' } })).rejects.toMatchObject({
        code: 'browser_missing',
      });
      await expect(browsers.open(site.answer, { env: { DOCSHELF_CHROMIUM: '/bin/false' } })).rejects.toMatchObject({
        code: 'browser_failed',
      });
    });
  },
);
