import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { bundle } from '../acceptance/bundles.ts';
import { siteEntry, startServing, startWithVersions } from '../acceptance/start.ts';
import { type ConfigFile, openBench } from '../helpers/daemon.ts';
import { httpServer } from '../helpers/local-server.ts';
import { hasChromium, useChromium, whyNoChromium } from './reader.ts';

/** Registers a worker, which then handles all requests of the site. */
const REGISTERING = `<!doctype html><title>registering</title><script>
navigator.serviceWorker.register('/sw.js', { scope: '/' }).then(
  () => navigator.serviceWorker.ready.then(({ scope }) => { document.title = 'in ' + new URL(scope).pathname; }),
  (error) => { document.title = error.name; });
</script>`;
const WORKER = `addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  if (event.request.mode !== 'navigate') return;
  const headers = { 'Content-Type': 'text/html' };
  event.respondWith(new Response('<!doctype html><title>from the worker</title>', { headers }));
});`;
const PIXEL = Buffer.from('R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==', 'base64').toString('latin1');

describe.skipIf(!hasChromium)(`service workers in a browser${whyNoChromium}`, () => {
  const bench = openBench(afterAll);
  const chromium = useChromium();
  const contexts: BrowserContext[] = [];

  const start = async (config: ConfigFile, versions: Readonly<Record<string, Readonly<Record<string, string>>>>) => {
    const bundles = Object.entries(versions).map(([version, files]) => [version, bundle(version, files)] as const);
    return (await startWithVersions(bench, Object.fromEntries(bundles), config)).daemon;
  };

  async function newPage(): Promise<Page> {
    const context = await chromium.browser.newContext();
    contexts.push(context);
    return context.newPage();
  }

  const titled = (page: Page, title: string): Promise<unknown> =>
    page.waitForFunction((wanted) => document.title === wanted, title);

  it('are registered under a base path, also by pages of kept versions', async () => {
    const files = { 'register.html': REGISTERING, 'sw.js': 'addEventListener("fetch", () => {})' };
    const config = { server: { basePath: '/team/docs' }, staticExport: { serveVersions: 'kept' } };
    const { site } = await start(config, { '1.0+a': files, '2.0': files });
    for (const base of ['/team/docs/', '/team/docs/_docshelf/v/1.0+a/']) {
      const reader = await chromium.open(site);
      await reader.page.goto(`${site}${base}register`);
      await titled(reader.page, `in ${base}`);
      expect(reader.complaints).toEqual([]);
    }
  });

  it.each(['/', '/team/docs/'])(
    'are removed when their version is rolled back, so that readers of the base path %s get the previous version',
    async (base) => {
      const newer = { 'register.html': REGISTERING, 'sw.js': WORKER };
      const daemon = await start({ server: { basePath: base } }, { '1.0': {}, '2.0': newer });
      const page = await newPage();
      await page.goto(`${daemon.site}${base}register`);
      await titled(page, `in ${base}`);
      await page.goto(`${daemon.site}${base}guides/start`);
      expect(await page.title()).toBe('from the worker');
      expect(await bench.run(['bundle', 'rollback'], { cwd: daemon.folder })).toMatchObject({ code: 0 });
      await page.goto(`${daemon.site}${base}guides/start`);
      // The worker has responded. Then the browser requests its script, and the replacement reloads the page.
      await titled(page, 'Start');
      expect(await page.locator('p').innerText()).toBe('1.0');
      await page.waitForFunction(async () => (await navigator.serviceWorker.getRegistrations()).length === 0);
      await page.goto(`${daemon.site}${base}`);
      expect(await page.title()).toBe('Home');
    },
  );

  it('are removed when their site is removed from the config', async () => {
    const archive = bundle('1.0', { 'register.html': REGISTERING, 'sw.js': WORKER });
    const daemon = await startServing(bench, { 'a/docs-1.0.tar.gz': archive }, { sites: [siteEntry('a')] });
    const page = await newPage();
    await page.goto(`${daemon.site}/a/register`);
    await titled(page, 'in /a/');
    await daemon.rewriteConfig({ sites: [siteEntry('b')] });
    await daemon.until(({ lastReload }) => lastReload?.ok === true);
    await page.goto(`${daemon.site}/a/guides/start`);
    await page.waitForFunction(() => document.title !== 'from the worker' && document.title !== '');
    await page.waitForFunction(async () => (await navigator.serviceWorker.getRegistrations()).length === 0);
  });

  it.each(['on', 'off'])(
    'can send requests to other hosts only if the pages of their site can: features.enforce %s',
    async (enforce) => {
      const requested: string[] = [];
      const elsewhere = await httpServer((request, response) => {
        requested.push(request.url ?? '');
        response.writeHead(204, { 'Access-Control-Allow-Origin': '*' }).end();
      });
      const call = (name: string) => `fetch('${elsewhere.origin}/${name}')`;
      const worker = (name: string) =>
        `const done = (port) => ${call(name)}.then(() => port.postMessage('open'), () => port.postMessage('closed'));
       addEventListener('connect', ({ ports: [port] }) => done(port));
       addEventListener('message', ({ ports: [port] }) => done(port));`;
      const files = {
        'worker.js': worker('worker'),
        'module.js': `${worker('module')} export {};`,
        'shared.js': worker('shared'),
        'sw.js': worker('service'),
        'assets/old.js': worker('old'),
        'data.txt': 'x',
        'data.json': '{}',
        'data.xml': '<x/>',
        'pixel.gif': PIXEL,
        'picture.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
        'probe.html': '<!doctype html><title>probe</title><meta charset=utf-8>',
      };
      const daemon = await start(
        { features: { enforce }, staticExport: { serveVersions: 'kept' } },
        { '1.0': files, '2.0': { ...files, 'assets/old.js': '' } },
      );
      const page = await newPage();
      await page.goto(`${daemon.site}/probe`);
      // As text, because it calls functions of the browser and not of the test runner.
      const workerAnswer = await page.evaluate(`(async () => {
      const answer = (post) => new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => resolve(data);
        post(port2);
      });
      const ofWorker = (worker) => answer((port) => worker.postMessage('', [port]));
      const ofShared = (shared) => new Promise((resolve) => { shared.port.onmessage = ({ data }) => resolve(data); });
      const ofService = async (url) => {
        const { installing, waiting, active } = await navigator.serviceWorker.register(url);
        return answer((port) => (installing ?? waiting ?? active).postMessage('', [port]));
      };
      const ofFrame = (url, name) => new Promise((resolve) => {
        const frame = document.createElement('iframe');
        frame.onload = () => {
          try {
            frame.contentWindow.fetch('${elsewhere.origin}/' + name).then(() => resolve('open'), () => resolve('closed'));
          } catch { resolve('closed'); }
        };
        frame.src = url;
        document.body.append(frame);
      });
      const said = {
        worker: await ofWorker(new Worker('/worker.js')),
        module: await ofWorker(new Worker('/module.js', { type: 'module' })),
        shared: await ofShared(new SharedWorker('/shared.js')),
        service: await ofService('/sw.js'),
        kept: await ofWorker(new Worker('/_docshelf/v/1.0/worker.js')),
      };
      const frames = ['/data.txt', '/data.json', '/data.xml', '/pixel.gif', '/picture.svg', '/gone', '/gone.js', '/llms.txt',
        '/probe.md', '/_docshelf/features.json', '/_docshelf/versions.json', '/_docshelf/gone', '/%00',
        '/?' + 'a'.repeat(9000), '/?' + 'a'.repeat(40000)];
      for (const url of frames) said[url.slice(0, 40)] = await ofFrame(url, 'frame');
      return said;
    })()`);
      const answers = Object.entries(workerAnswer as Record<string, string>);
      if (enforce === 'on') {
        expect(answers.filter(([, answer]) => answer !== 'closed')).toEqual([]);
        expect(requested).toEqual([]);
        // Chromium also sends these reports over plain HTTP.
        await daemon.until(({ notices }) => notices.some((notice) => notice.includes('Pages tried to load from')));
      } else {
        // Without the policy, the same probes reach the other host.
        expect(answers.filter(([, answer]) => answer === 'open').map(([name]) => name)).toEqual(
          expect.arrayContaining([
            'worker',
            'module',
            'shared',
            'service',
            'kept',
            '/data.txt',
            '/pixel.gif',
            '/llms.txt',
          ]),
        );
      }
    },
  );
});
