import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { bundle } from './bundles.ts';
import { Home } from './home.ts';

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

async function startWith(base: string, server: object) {
  const folder = await bench.folder();
  await writeFile(join(folder, 'docs-1.tar.gz'), siteFor(base));
  await bench.writeConfig(folder, { log: { access: false }, server });
  const imported = await bench.run(['bundle', 'import', 'docs-1.tar.gz', '--version', '1', '--config', 'config.yaml'], {
    cwd: folder,
  });
  expect([imported.code, imported.stderr]).toEqual([0, expect.anything()]);
  const daemon = await bench.start({ server, search: {}, log: { access: false } }, { folder });
  await daemon.untilServing('1');
  const send = async (path: string) => {
    const response = await fetch(daemon.site + path, { redirect: 'manual' });
    return [response.status, response.headers.get('location') ?? (await response.text())] as const;
  };
  return { daemon, send };
}

describe('server.basePath', () => {
  test('serves under the base path a bundle that was built for the root, and responds with 404 to other paths', async () => {
    const { daemon, send } = await startWith('/', { basePath: '/team/docs' });
    const [, home] = await send('/team/docs/');
    expect(home).toContain('href="/team/docs/a.css"');
    expect(home).toContain('href="/team/docs/guides/start"');
    expect(await send('/team/docs/a.css')).toEqual([200, 'b { background: url(/team/docs/a.png) }']);
    expect(await send('/team/docs?q=1')).toEqual([308, '/team/docs/?q=1']);
    expect(await send('/team/docs/more')).toEqual([308, 'more/']);
    expect((await send('/'))[0]).toBe(404);
    expect((await send('/guides/start'))[0]).toBe(404);
    expect((await send('/_docshelf/features.json'))[0]).toBe(404);
    expect((await send('/team/docs/_docshelf/features.json'))[0]).toBe(200);
    await daemon.until(({ search }) => search.keyword === 'ready');
    const [status, results] = await send('/team/docs/_docshelf/search?q=rotate+keys');
    expect(status).toBe(200);
    expect(JSON.parse(results)[0].path).toMatch(/^\/team\/docs\/more/);
  });

  test('takes effect on a reload', async () => {
    const { daemon, send } = await startWith('/', {});
    expect((await send('/'))[1]).toContain('href="/a.css"');
    await daemon.rewriteConfig({ server: { basePath: '/docs/' } });
    await daemon.until(({ lastReload }) => lastReload !== null);
    expect((await send('/docs/'))[1]).toContain('href="/docs/a.css"');
    expect((await send('/'))[0]).toBe(404);
    expect((await daemon.status()).pending).toEqual([]);
  });

  test('serves at the root a bundle that was built for /docs/, and redirects to addresses with the trailing slash of links in the bundle', async () => {
    const { send } = await startWith('/docs/', {});
    expect((await send('/'))[1]).toContain('href="/a.css"');
    expect(await send('/a.css')).toEqual([200, 'b { background: url(/a.png) }']);
    expect(await send('/more')).toEqual([308, 'more/']);
  });

  test.each(['docs', '/a//b', '/../x', '/a b'])(
    'is reported as a config error if it is not a path: "%s"',
    async (basePath) => {
      const folder = await bench.folder();
      await bench.writeConfig(folder, { server: { basePath } });
      const result = await bench.run(['config', 'check', '--json', '--config', 'config.yaml'], { cwd: folder });
      expect(result.code).toBe(78);
      expect(result.stdout).toContain('server.basePath');
    },
  );
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
    const refused = await home.bundle(['audit', '9', '--base-path', 'docs']);
    expect([refused.code, refused.json().code]).toEqual([64, 'usage']);
  });
});
