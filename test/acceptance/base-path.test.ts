import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { codesOf, openBench } from '../helpers/daemon.ts';
import { bundle } from './bundles.ts';
import { Home } from './home.ts';
import { startServing } from './start.ts';

const bench = openBench(afterEach);

/** A site with links from its root. @param base path for which it was built */
const siteFor = (base: string): Buffer =>
  bundle('mounted', {
    'index.html': `<title>Home</title><link rel="stylesheet" href="${base}a.css"><a href="${base}guides/start">Start</a>`,
    'a.css': `b { background: url(${base}a.png) }`,
    'a.png': 'png',
    'more/index.html': `<title>More rotate keys</title><h1>More</h1><p>Rotate the keys.</p><a href="${base}more/">More</a>`,
    'a.js': `go("${base}guides/start")`,
  });

describe('server.basePath', () => {
  test('lets the daemon serve a bundle that was built for another path, and takes effect after a reload', async () => {
    const archives = { 'docs-2024-06-01.tar.gz': siteFor('/docs/') };
    const daemon = await startServing(bench, archives, { search: {}, log: { access: false } });
    const send = async (path: string) => {
      const response = await fetch(daemon.site + path, { redirect: 'manual' });
      return [response.status, response.headers.get('location') ?? (await response.text())] as const;
    };
    expect((await send('/'))[1]).toContain('href="/a.css"');
    expect(await send('/a.css')).toEqual([200, 'b { background: url(/a.png) }']);
    expect(await send('/more')).toEqual([308, 'more/']);

    await daemon.rewriteConfig({ server: { basePath: '/team/docs' } });
    await daemon.until(({ lastReload }) => lastReload !== null);
    expect((await daemon.status()).pending).toEqual([]);
    const [, home] = await send('/team/docs/');
    expect(home).toContain('href="/team/docs/a.css"');
    expect(home).toContain('href="/team/docs/guides/start"');
    expect(await send('/team/docs/a.css')).toEqual([200, 'b { background: url(/team/docs/a.png) }']);
    expect(await send('/team/docs?q=1')).toEqual([308, '/team/docs/?q=1']);
    expect(await send('/team/docs/more')).toEqual([308, 'more/']);
    for (const path of ['/', '/guides/start', '/_docshelf/features.json']) expect((await send(path))[0]).toBe(404);
    expect((await send('/team/docs/_docshelf/features.json'))[0]).toBe(200);
    await daemon.until(({ search }) => search.keyword === 'ready');
    const [status, results] = await send('/team/docs/_docshelf/search?q=rotate+keys');
    expect(status).toBe(200);
    expect(JSON.parse(results)[0].path).toMatch(/^\/team\/docs\/more/);
  });
});

describe('bundle audit --base-path', () => {
  test('reports the links that docshelf does not rewrite', async () => {
    const home = await Home.open(bench, 'without a daemon');
    await writeFile(join(home.folder, 'docs-9.tar.gz'), siteFor('/'));
    await home.bundle(['import', 'docs-9.tar.gz', '--version', '9']);
    expect((await home.bundle(['audit', '9', '--base-path', '/docs'])).json()).toMatchObject({
      version: '9',
      basePath: '/docs/',
      builtFor: '/',
      rewritten: 3,
      left: [{ file: 'a.js', addresses: ['/guides/start'] }],
    });
    const { stdout } = await bench.run(['bundle', 'audit', '9', '--base-path', '/docs/'], { cwd: home.folder });
    expect(stdout).toMatch(/a\.js +\/guides\/start/);
    expect((await home.bundle(['audit', '9', '--base-path', '/'])).json()).toMatchObject({ rewritten: 0, left: [] });
    expect(codesOf(await home.bundle(['audit', '9', '--base-path', 'docs']))).toEqual([64, 'usage']);
  });
});
