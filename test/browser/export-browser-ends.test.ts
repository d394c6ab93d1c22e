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
  `a browser that exits unexpectedly${whyNoChromium}`,
  () => {
    let browsers = new Browsers();
    afterEach(async () => {
      await browsers.close();
      browsers = new Browsers();
    });

    it('is restarted, and renders the current page again', async () => {
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

    it('is not restarted any more if it exits every time', async () => {
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

    it('survives a page that uses all memory: only its tab crashes, twice', async () => {
      const site = new MemorySite({
        '/eats.html': '<script>const all = []; for (;;) all.push(new Uint8Array(5e7).fill(1))</script>',
        '/a.html': '<p>There</p>',
      });
      const session = await browsers.open(site.answer, { tabs: 1 });
      expect(await renderPath(session, '/eats.html')).toMatchObject({ state: 'crashed', dom: null });
      expect(site.requestedPaths.filter((path) => path === '/eats.html')).toHaveLength(1);
      expect(await renderPath(session, '/a.html')).toMatchObject({ state: 'settled' });
    });

    it("stops rendering a page with the reason of the caller's signal", async () => {
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

    it('is reported as missing when a session starts without one', async () => {
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
