import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { send as askGuarded, basic } from '../http/sign-in/guarded-listener.ts';
import { bundle } from './bundles.ts';
import { startWithVersions } from './start.ts';

const bench = openBench(afterEach);

const page = (title: string, lang = 'en') =>
  `<!doctype html><html lang="${lang}"><head><title>${title}</title></head><body><p>${title}</p></body></html>`;
const JUNE = bundle('june', {
  'index.html': page('Home'),
  'guides/deep/old.html': page('Moved away'),
  'de/index.html': page('Start', 'de'),
  'de/seite.html': page('Seite', 'de'),
  '404.html': page('Lost'),
});
const JULY = bundle('july', {
  'index.html': page('Home'),
  'new/place.html': page('Moved away'),
  'de/index.html': page('Start', 'de'),
});

const SCRIPT =
  /<script type="module" src="(?<src>[^"]+)" data-version="(?<version>[^"]+)" data-active="(?<active>[^"]+)"><\/script>/;
const NOTICE = /<docshelf-versions [^>]*lang="(?<lang>[^"]+)"[^>]*><p>(?<text>[^<]+) <a href="(?<href>[^"]+)"/;
const KEPT = { enabled: true, serveVersions: 'kept', keep: 5 };

const textOf = async (address: string): Promise<string> => (await fetch(address)).text();
const locationOf = async (address: string): Promise<string | null> =>
  (await fetch(address, { redirect: 'manual' })).headers.get('location');
const untilHead = (address: string, has: boolean): Promise<void> =>
  expect.poll(async () => SCRIPT.test(await textOf(address))).toBe(has);

const startWith = (config: object, bundles: Readonly<Record<string, Buffer>>) =>
  startWithVersions(bench, bundles, { staticExport: KEPT, log: { access: false }, ...config });

describe('the version switcher (server.versionSwitcher)', () => {
  test('appears under a base path on every page if there are several versions', async () => {
    const server = { host: '127.0.0.1', port: 0, basePath: '/team/', versionSwitcher: true };
    const { daemon, runBundle, importBundle } = await startWith({ server }, { '1.0+june': JUNE });
    const site = `${daemon.site}/team/`;
    await daemon.untilServing('1.0+june');
    expect(await textOf(site)).not.toMatch(/_docshelf/);
    await importBundle('v2', JULY);
    await daemon.untilServing('v2');
    for (const path of ['', 'de/', 'new/place']) {
      expect(SCRIPT.exec(await textOf(site + path))?.groups, path).toMatchObject({ version: 'v2', active: 'v2' });
    }
    const { src = '' } = SCRIPT.exec(await textOf(site))?.groups ?? {};
    expect(src).toMatch(/^\/team\/_docshelf\/assets\/switcher-[0-9a-f]{16}\/switcher\.js$/);
    const script = await fetch(daemon.site + src);
    expect([script.status, script.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);

    const old = `${site}_docshelf/v/1.0+june/`;
    expect(SCRIPT.exec(await textOf(old))?.groups).toMatchObject({ src, version: '1.0+june', active: 'v2' });
    const [style = ''] = /[^"]+switcher\.css/.exec(await textOf(old)) ?? [];
    expect((await fetch(daemon.site + style)).headers.get('content-type')).toBe('text/css; charset=utf-8');
    const notices = {
      '': ['en', '/team/'],
      // The page was moved, so the notice links to the page with the same title.
      'guides/deep/old': ['en', '/team/new/place.html'],
      'de/': ['de', '/team/de/'],
      'de/seite': ['de', '/team/de'],
      'not/there': ['en', '/team/'],
    };
    for (const [path, [lang, href]] of Object.entries(notices)) {
      expect(NOTICE.exec(await textOf(old + path))?.groups, path).toMatchObject({ lang, href });
    }

    expect(await locationOf(`${old}new/place?docshelf-from=v2`)).toBe('/team/_docshelf/v/1.0+june/guides/deep/old');
    expect(await locationOf(`${site}_docshelf/v/v2/guides/deep/old?docshelf-from=1.0%2Bjune`)).toBe('/team/new/place');

    await runBundle('rollback');
    await daemon.untilServing('1.0+june');
    expect(NOTICE.exec(await textOf(`${site}_docshelf/v/v2/`))?.groups?.text).toBe(
      'This is version v2, not the current one.',
    );
    await runBundle('remove', 'v2');
    await untilHead(site, false);
  });

  test('appears or disappears after a reload that changes server.versionSwitcher', async () => {
    const own = Object.fromEntries(
      ['a', 'b', 'c'].flatMap((name) =>
        [`docs/${name}.html`, `docs/next/${name}.html`].map((path) => [path, page(name)]),
      ),
    );
    const { daemon, runBundle, importBundle } = await startWith({}, { v1: JUNE, v2: JULY });
    await daemon.untilServing('v2');
    const site = `${daemon.site}/`;
    expect(await textOf(`${site}_docshelf/v/v1/`)).not.toMatch(/docshelf-versions|switcher/);
    const server = { versionSwitcher: true };
    await daemon.rewriteConfig({ staticExport: KEPT, server });
    await untilHead(site, true);
    await importBundle('v3', bundle('own', own));
    await daemon.untilServing('v3');
    expect(await textOf(`${site}docs/a`)).not.toMatch(SCRIPT);
    expect((await daemon.status()).notices).toContainEqual(expect.stringContaining('several versions (docs/next/)'));
    await runBundle('activate', 'v2');
    await daemon.untilServing('v2');
    const kept = await textOf(`${site}_docshelf/v/v3/docs/a`);
    expect([NOTICE.exec(kept)?.groups?.href, SCRIPT.test(kept)]).toEqual(['/', false]);
    await daemon.rewriteConfig({ staticExport: { ...KEPT, serveVersions: 'pinned' }, server });
    await untilHead(site, false);
  });

  test('lists a staged version only for readers who have opened its preview link, and requires the sign-in of the site', async () => {
    const auth = { kind: 'basic', usersFile: './users' };
    const server = { host: '127.0.0.1', port: 0, versionSwitcher: true, auth };
    const { daemon, runBundle, importBundle } = await startWith(
      { server: { ...server, auth: { kind: 'none' } } },
      { v2: JULY },
    );
    // Password `correct horse`, with bcrypt cost 4.
    await writeFile(
      join(daemon.folder, 'users'),
      'anna:$2y$04$Nuq.jlV0goywBMrqjGx.LOsLa4Ecagy1IAw9MYcsF2wmiJv43N9ba\n',
    );
    await daemon.untilServing('v2');
    await importBundle('v3', JUNE, '--no-activate');
    const { link = '' } = await runBundle('preview', 'v3');
    const opened = await fetch(daemon.site + new URL(link).pathname + new URL(link).search, { redirect: 'manual' });
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
    const staged = await (await fetch(`${daemon.site}/_docshelf/v/v3/guides/deep/old`, { headers: { cookie } })).text();
    expect(NOTICE.exec(staged)?.groups).toMatchObject({ href: '/new/place.html' });
    expect(await textOf(`${daemon.site}/`)).not.toMatch(SCRIPT);
    // The redirect must not reveal a page of a version that the reader may not see.
    const moved = `${daemon.site}/_docshelf/v/v2/guides/deep/old?docshelf-from=v3`;
    expect(await locationOf(moved)).toBe('/guides/deep/old');
    const redirected = await fetch(moved, { headers: { cookie }, redirect: 'manual' });
    expect(redirected.headers.get('location')).toBe('/new/place');

    await daemon.rewriteConfig({ staticExport: KEPT, server });
    const port = Number(new URL(daemon.site).port);
    const target = '/_docshelf/v/v2/?docshelf-from=v2';
    await expect.poll(async () => (await askGuarded(port, target)).status).toBe(401);
    const response = await askGuarded(port, target, { authorization: basic('anna', 'correct horse') });
    expect(response.status).toBe(302);
  });
});
