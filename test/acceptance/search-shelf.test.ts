import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { basic, send } from '../http/sign-in/guarded-listener.ts';
import { bundle, folderOf } from './bundles.ts';

const bench = openBench(afterEach);
/** Password `correct horse`, with bcrypt cost 4. */
const HASH = '$2y$04$Nuq.jlV0goywBMrqjGx.LOsLa4Ecagy1IAw9MYcsF2wmiJv43N9ba';
const PASSWORD = 'correct horse';
const NOBODY = { auth: { kind: 'none' } };

/** Two public sites, two with the sign-in of the daemon, and one with its own. */
const SITES = [
  { domain: 'acme', title: 'Acme <Docs>', hosts: ['acme.test'], ...NOBODY },
  { domain: 'beta', hosts: ['beta.test'], ...NOBODY },
  { domain: 'team', hosts: ['team.test'] },
  { domain: 'staff', hosts: ['staff.test'] },
  { domain: 'secret', hosts: ['secret.test'], auth: { kind: 'basic', usersFile: './others' } },
].map((site) => ({ ...site, staticExport: { enabled: true } }));
const configOf = (server: object) => ({
  staticExport: null,
  sites: SITES,
  server: { auth: { kind: 'basic', usersFile: './users' }, ...server },
  search: { model: 'off', widget: true },
  log: { access: false },
});

interface Found {
  readonly path: string;
  readonly site?: unknown;
}

test('a search with scope=all includes all sites that the reader can open, and no site that needs another sign-in', async () => {
  const folder = await bench.folder();
  for (const { domain } of SITES) {
    const page = `<!doctype html><html lang="en"><title>${domain}</title><h1>A lantern of ${domain}</h1><p>A lantern.</p>`;
    const files = { 'index.html': page };
    await folderOf(join(folder, 'bundles', domain), { 'docs-2024-06-01.tar.gz': bundle(domain, files) });
  }
  await writeFile(join(folder, 'users'), `anna:${HASH}\n`);
  await writeFile(join(folder, 'others'), `olga:${HASH}\n`);
  const daemon = await bench.start(configOf({}), { folder });
  await daemon.until(({ sites }) => sites?.every(({ search }) => search?.keyword === 'ready') === true);
  const port = Number(new URL(daemon.site).port);
  const get = async <T>(site: string, query: string, reader: string | null) => {
    const headers = { host: `${site}.test`, ...(reader && { authorization: basic(reader, PASSWORD) }) };
    const { status, body } = await send(port, `/_docshelf/search?q=lantern&${query}`, headers);
    expect([site, status]).toEqual([site, 200]);
    return JSON.parse(body) as T;
  };
  const sitesOf = async (site: string, reader: string | null) =>
    [...new Set((await get<readonly Found[]>(site, 'scope=all', reader)).map((result) => result.site))].toSorted();

  expect(await sitesOf('acme', null)).toEqual(['acme', 'beta']);
  // The name of another sign-in gives no access here.
  expect(await sitesOf('acme', 'anna')).toEqual(['acme', 'beta']);
  expect(await sitesOf('beta', null)).toEqual(['acme', 'beta']);
  expect(await sitesOf('team', 'anna')).toEqual(['acme', 'beta', 'staff', 'team']);
  expect(await sitesOf('secret', 'olga')).toEqual(['acme', 'beta', 'secret']);
  expect((await send(port, '/_docshelf/search?q=lantern&scope=all', { host: 'team.test' })).status).toBe(401);
  expect((await send(port, '/_docshelf/search?q=lantern&scope=every', { host: 'acme.test' })).status).toBe(400);

  const own = await get<readonly Found[]>('acme', 'scope=site', null);
  expect(own.map(({ site }) => site)).toEqual(own.map(() => undefined));
  const box = await get<{ results: readonly Found[]; semantic: boolean }>('beta', 'scope=all&view=box', null);
  expect(box.results.map(({ path, site }) => ({ path: path.replace(/#.*/, ''), site }))).toEqual(
    expect.arrayContaining([
      { path: '/', site: { domain: 'acme', title: 'Acme <Docs>', address: '//acme.test/' } },
      { path: '/', site: { domain: 'beta', title: 'beta', address: '/' } },
    ]),
  );
  expect(box.results.length).toBeGreaterThan(1);
  const page = async () => (await send(port, '/', { host: 'acme.test' })).body;
  expect(await page()).toMatch(/<script type="module" src="[^"]+\/loader\.js" data-shelf><\/script>/);

  await daemon.rewriteConfig(configOf({ shelf: false }));
  await daemon.until(({ lastReload }) => lastReload?.ok === true);
  await expect.poll(page, { timeout: 30_000 }).not.toContain('data-shelf');
  expect(await sitesOf('acme', null)).toEqual(['acme']);
});
