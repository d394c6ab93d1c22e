import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChromiumSession } from '../../src/crawl/browser/chromium-session.ts';
import { Browsers, hasChromium, MemorySite, ORIGIN, PIXEL, renderPath } from './export-site.ts';
import { whyNoChromium } from './reader.ts';

const picture = { headers: { 'content-type': 'image/png' }, body: PIXEL };
const tall = '<div style="height:6000px"></div>';

const ANSWERS = {
  '/favicon.ico': picture,
  '/plain.html':
    '<!doctype html><title>Plain</title><p>Hello &amp; <a href="next.html#part">next</a> <a href="mailto:a@b.c">mail</a>',
  '/lazy.html': `<!doctype html>${tall}<img src="/lazy.png" loading="lazy"><iframe src="/lazy-frame.html" loading="lazy"></iframe>
    <div id="watched"></div>${tall}
    <script>new IntersectionObserver((seen, self) => {
      if (!seen[0].isIntersecting) return;
      self.disconnect();
      new Image().src = '/observed.png';
    }).observe(document.querySelector('#watched'))</script>`,
  '/lazy.png': picture,
  '/observed.png': picture,
  '/lazy-frame.html': '<img src="/in-frame.png">',
  '/in-frame.png': picture,
  '/client.html':
    '<!doctype html><html lang="en"><body><div id="app"></div><script src="/client.js" type="module"></script></body></html>',
  '/client.js': `const { title } = await (await fetch('/data.json?page=1')).json();
    document.querySelector('#app').innerHTML = '<h1>' + title + '</h1>';
    const made = document.createElement('img');
    made.src = '/made.png';
    document.body.append(made);
    customElements.define('x-note', class extends HTMLElement {
      constructor() { super(); this.attachShadow({ mode: 'open' }).innerHTML = '<style>p{color:red}</style><p>In the shadow</p>'; }
    });
    document.body.append(document.createElement('x-note'));
    new Worker('/worker.js');`,
  '/data.json?page=1': '{"title":"Written by a script"}',
  '/made.png': picture,
  '/worker.js': "importScripts('/imported.js'); fetch('/from-worker.json')",
  '/imported.js': '',
  '/from-worker.json': '{}',
  '/moved.html': { status: 302, headers: { location: '/deep/target.html' } },
  '/deep/target.html': '<link rel="stylesheet" href="style.css">',
  '/deep/style.css': { status: 301, headers: { location: '/styles/real.css' } },
  '/styles/real.css': 'body { background: url(below.png) }',
  '/styles/below.png': picture,
  '/leaves.html': '<p>Gone</p><script>setTimeout(() => { location = "/plain.html" }, 50)</script>',
  '/loops.html': '<script>location = "/loops.html?" + Math.random()</script>',
  '/hangs.html': '<img src="/before.png"><script>while (true);</script>',
  '/before.png': picture,
  '/polls.html': '<p>Polls</p><script>setInterval(() => fetch("/plain.html?" + Math.random()), 20)</script>',
  '/streams.html': '<p>Streams</p><script>new EventSource("/events")</script>',
  '/waits.html': '<p>Waits</p><script>fetch("/never")</script>',
  '/stops.html': '<p>Stops</p><script>window.stop()</script>',
  '/never': 'never',
  '/complains.html': `<script>console.error('said', 1); console.log('quiet'); Promise.reject(new Error('nobody caught')); undefinedName()</script><img src="/missing.png">`,
  '/floods.html': '<script>setInterval(() => { for (let i = 0; i < 1000; i++) console.log("flood") }, 1)</script>',
  '/asks.html':
    '<script>alert("a"); confirm("b"); prompt("c"); window.open("/popup.html"); onbeforeunload = (e) => { e.preventDefault(); return "stay" }</script><p>Answered</p>',
  '/asks-on.html': '<script>setInterval(() => { for (;;) alert("again") }, 1)</script>',
  '/popup.html': 'never',
  '/saves.html':
    '<p>Saves</p><a id="save" href="/file.zip" download></a><script>document.querySelector("#save").click()</script>',
  '/file.zip': { headers: { 'content-type': 'application/zip', 'content-disposition': 'attachment' }, body: 'PK' },
  '/posts.html': '<script>fetch("/form", { method: "POST", body: "x" }); navigator.sendBeacon("/beacon", "x")</script>',
  '/sets-cookie.html': {
    headers: { 'set-cookie': 'seen=1; Path=/; Expires=Wed, 21 Oct 2037 07:28:00 GMT, other=2; Path=/' },
    body: '<p>Set</p>',
  },
  '/reads-cookie.html': '<img src="/cookie.png"><img src="https://elsewhere.test/cookie.png">',
  '/cookie.png': picture,
  'https://elsewhere.test/cookie.png': picture,
};

describe.skipIf(!hasChromium)(`a rendered page${whyNoChromium}`, () => {
  const browsers = new Browsers();
  const site = new MemorySite(ANSWERS);
  let session: ChromiumSession;

  beforeAll(async () => {
    session = await browsers.open(site.answer);
  });
  afterAll(() => browsers.close());

  const render = (path: string) => renderPath(session, path);
  const requestsOf = (page: string) =>
    site.requests
      .filter(({ pageUrl }) => pageUrl === ORIGIN + page)
      .map(({ url }) => url.replace(ORIGIN, ''))
      .filter((path) => path !== '/favicon.ico');

  it('returns its document, its text and its links', async () => {
    const page = await render('/plain.html');
    expect(page.state).toBe('settled');
    expect(page.dom).toEqual({
      html: '<!DOCTYPE html>\n<html><head><title>Plain</title></head><body><p>Hello &amp; <a href="next.html#part">next</a> <a href="mailto:a@b.c">mail</a></p></body></html>\n',
      text: 'Hello & next mail',
      links: [`${ORIGIN}/next.html`],
    });
  });

  it('loads lazy resources, and keeps the loading attributes', async () => {
    const page = await render('/lazy.html');
    expect(requestsOf('/lazy.html')).toEqual(
      expect.arrayContaining(['/lazy.png', '/lazy-frame.html', '/in-frame.png', '/observed.png']),
    );
    expect(page.dom?.html.match(/loading="lazy"/g)).toHaveLength(2);
  });

  it('is returned with the content that its scripts have added, such as text in shadow roots', async () => {
    const page = await render('/client.html');
    expect(page.state).toBe('settled');
    expect(requestsOf('/client.html')).toEqual(
      expect.arrayContaining(['/data.json?page=1', '/made.png', '/worker.js', '/imported.js', '/from-worker.json']),
    );
    expect(page.dom?.text).toContain('Written by a script');
    expect(page.dom?.text).toContain('In the shadow');
    expect(page.dom?.text).not.toContain('color');
    expect(page.dom?.html).toContain(
      '<x-note><template shadowrootmode="open"><style>p{color:red}</style><p>In the shadow</p></template></x-note>',
    );
    expect(page.dom?.html).toMatch(/^<!DOCTYPE html>\n<html lang="en">/);
  });

  it('requests each redirect target separately, so that the response has the address of the target', async () => {
    const page = await render('/moved.html');
    expect(page.url).toBe(`${ORIGIN}/deep/target.html`);
    expect(requestsOf('/moved.html')).toEqual([
      '/moved.html',
      '/deep/target.html',
      '/deep/style.css',
      '/styles/real.css',
      '/styles/below.png',
    ]);
  });

  it('is returned without a document if its scripts navigate to another page', async () => {
    expect(await render('/leaves.html')).toMatchObject({ state: 'left', url: `${ORIGIN}/plain.html`, dom: null });
    expect((await render('/loops.html')).state).not.toBe('settled');
    expect(site.requestedPaths.filter((path) => path.startsWith('/loops.html')).length).toBeLessThan(30);
  });

  it('is aborted if its scripts block the tab, and does not prevent the rendering of the next page', async () => {
    const impatient = await browsers.open(site.answer, { pageTimeoutMs: 3_000, tabs: 1 });
    const page = await renderPath(impatient, '/hangs.html');
    expect(page).toMatchObject({ state: 'hung', dom: null });
    expect(requestsOf('/hangs.html')).toContain('/before.png');
    expect(await renderPath(impatient, '/plain.html')).toMatchObject({ state: 'settled' });
  });

  it('is returned with the state "unsettled" and the reason if it does not become quiet', async () => {
    const impatient = await browsers.open(site.answer, { pageTimeoutMs: 6_000 });
    const pages = await Promise.all(
      ['/polls.html', '/waits.html', '/stops.html'].map((path) => renderPath(impatient, path)),
    );
    expect(pages.map(({ state, dom, reason }) => [state, dom?.text, reason])).toEqual([
      ['unsettled', 'Polls', 'it continued to send requests'],
      ['unsettled', 'Waits', 'it continued to send requests'],
      ['unsettled', 'Stops', 'it did not finish loading'],
    ]);
    expect(await renderPath(impatient, '/streams.html')).toMatchObject({
      state: 'settled',
      failures: [{ url: `${ORIGIN}/events`, why: 'stream' }],
    });
  });

  it('causes exactly one entry in the result for each of its errors', async () => {
    const page = await render('/complains.html');
    expect(page.consoleErrors).toHaveLength(3);
    expect(page.consoleErrors.join('\n')).toMatch(/said 1[\s\S]*undefinedName/);
    expect(page.failures).toEqual([{ url: `${ORIGIN}/missing.png`, why: '404' }]);
  });

  it('is aborted if it floods its console or sends requests without end', async () => {
    // On a busy machine the tab may run out of memory before it counts as hanging.
    expect(await render('/floods.html')).toMatchObject({
      state: expect.stringMatching(/^(?:hung|crashed)$/),
      consoleErrors: [],
    });
    expect(await render('/asks-on.html')).toMatchObject({ state: expect.stringMatching(/^(?:hung|crashed)$/) });
  });

  it('opens no window, downloads no file, and does not wait for dialogs', async () => {
    expect(await render('/asks.html')).toMatchObject({ state: 'settled', dom: { text: 'Answered' } });
    expect(site.requestedPaths).not.toContain('/popup.html');
    expect(await render('/saves.html')).toMatchObject({ dom: { text: 'Saves' } });
    expect(await render('/file.zip')).toMatchObject({ state: 'failed', dom: null });
    expect(await render('/plain.html')).toMatchObject({ state: 'settled' });
  });

  it('sends no request that could change the site', async () => {
    const page = await render('/posts.html');
    expect(page.failures.map(({ url, why }) => [url, why])).toEqual(
      expect.arrayContaining([
        [`${ORIGIN}/form`, 'method'],
        [`${ORIGIN}/beacon`, 'method'],
      ]),
    );
    expect(site.requestedPaths).not.toContain('/form');
  });

  it('receives the cookies of its site, and sends them to no other host', async () => {
    await render('/sets-cookie.html');
    await render('/reads-cookie.html');
    const cookies = site.requests
      .filter(({ url }) => url.endsWith('/cookie.png'))
      .map(({ url, headers }) => [new URL(url).host, headers.cookie]);
    expect(cookies).toEqual(
      expect.arrayContaining([
        ['site.test', 'seen=1; other=2'],
        ['elsewhere.test', undefined],
      ]),
    );
  });

  it('has no network access except through the request handler', async () => {
    let connections = 0;
    const listener = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const address = listener.address();
    const port = typeof address === 'object' ? address?.port : null;
    const metadata = 'http://169.254.169.254/latest/meta-data/';
    const hostile = new MemorySite({
      'http://site.test/': `<link rel="preconnect" href="http://127.0.0.1:${port}"><link rel="dns-prefetch" href="//name.test">
        <img src="http://127.0.0.1:${port}/a.png"><iframe src="${metadata}"></iframe>
        <script>
          fetch('${metadata}').catch(() => {});
          new WebSocket('ws://127.0.0.1:${port}/');
          const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${port}?transport=tcp' }, { urls: 'turn:127.0.0.1:${port}?transport=tcp', username: 'a', credential: 'b' }] });
          peer.createDataChannel('x');
          peer.createOffer().then((offer) => peer.setLocalDescription(offer));
        </script>`,
    });
    const cut = await browsers.open(hostile.answer);
    const page = await cut.render('http://site.test/', { signal: AbortSignal.timeout(60_000) });
    expect(page.state).toBe('settled');
    // The request reached the proxy, which rejected it.
    expect(page.failures).toEqual(
      expect.arrayContaining([
        { url: metadata, why: 'address_not_allowed' },
        { url: `http://127.0.0.1:${port}/a.png`, why: 'address_not_allowed' },
      ]),
    );
    expect(connections).toBe(0);
    await new Promise((resolve) => listener.close(resolve));
  });
});
