import { rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BrowserLike } from '../helpers/browser-like.ts';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { freePorts } from '../helpers/free-ports.ts';
import { CLIENT, TestIdentityProvider } from '../helpers/identity-provider.ts';
import { basic, send } from '../http/sign-in/guarded-listener.ts';
import { bundle } from './bundles.ts';
import { siteEntry, startServing, untilSearchable } from './start.ts';

/** Reader sign-in of a running daemon: one site, and a shelf of sites with separate sign-ins. */

const bench = openBench(afterAll);
/** Passwords `correct horse` and `tide-table-7`, with bcrypt cost 4. */
const ANNA_LINE = 'anna:$2y$04$Nuq.jlV0goywBMrqjGx.LOsLa4Ecagy1IAw9MYcsF2wmiJv43N9ba\n';
const BEN_LINE = 'ben:$2b$04$wa1Po1AGF.DqvQEJGv7d0OLEFStJNU6.w1Q.vVad8EFhSH8kTgRLe\n';
const ANNA = basic('anna', 'correct horse');
const BEN = basic('ben', 'tide-table-7');

const portOf = (url: string): number => Number(new URL(url).port);

async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

describe('one site with htpasswd', () => {
  let daemon: DaemonProcess;
  beforeAll(async () => {
    const config = { server: { auth: { kind: 'basic', usersFile: './users' } }, search: {} };
    const archives = { 'docs-2024-06-01.tar.gz': bundle('lighthouse') };
    daemon = await startServing(bench, archives, config, { users: ANNA_LINE });
  });

  it('does not serve a cached page without sign-in, but responds to health checks', async () => {
    const port = portOf(daemon.site);
    for (let at = 0; at < 3; at++) {
      expect(await send(port, '/', { authorization: ANNA })).toMatchObject({
        status: 200,
        headers: { 'cache-control': 'private, no-cache' },
      });
      const refused = await send(port, '/');
      expect(refused.status).toBe(401);
      expect(JSON.stringify(refused)).not.toContain('lighthouse');
    }
    expect((await send(portOf(daemon.admin), '/livez')).status).toBe(200);
    expect((await send(portOf(daemon.admin), '/readyz')).status).toBe(200);
  });

  it('applies a changed users file without a restart, and rejects a removed user', async () => {
    const port = portOf(daemon.site);
    expect((await send(port, '/', { authorization: BEN })).status).toBe(401);
    await replace(join(daemon.folder, 'users'), BEN_LINE);
    // Requests with a wrong password would be slowed down, so wait for the reload.
    await daemon.until(({ lastReload }) => lastReload?.ok === true);
    expect((await send(port, '/', { authorization: BEN })).status).toBe(200);
    expect((await send(port, '/', { authorization: ANNA })).status).toBe(401);
    // An invalid file changes nothing.
    await replace(join(daemon.folder, 'users'), 'anna:secret\n');
    await daemon.until(({ lastReload }) => lastReload?.ok === false);
    expect((await send(port, '/', { authorization: BEN })).status).toBe(200);
    expect((await send(port, '/', { authorization: ANNA })).status).toBe(401);
    await replace(join(daemon.folder, 'users'), ANNA_LINE);
    await daemon.until(({ lastReload }) => lastReload?.ok === true);
  });

  it('counts wrong passwords, and logs no password', async () => {
    const port = portOf(daemon.site);
    await send(port, '/', { authorization: basic('anna', 'canary-of-a-password') });
    const metrics = await send(portOf(daemon.admin), '/metrics');
    expect(Number(/^docshelf_wrong_sign_ins_total (\d+)$/m.exec(metrics.body)?.[1])).toBeGreaterThan(0);
    const written = Buffer.from('anna:canary-of-a-password').toString('base64');
    expect(daemon.log()).not.toContain('canary-of-a-password');
    expect(daemon.log()).not.toContain(written);
  });

  it('requires sign-in after a reload that configures sign-in, until a reload removes sign-in', async () => {
    const port = portOf(daemon.site);
    const status = async (headers = {}) => (await send(port, '/', headers)).status;
    await daemon.rewriteConfig({ server: { auth: { kind: 'none' } } });
    await expect.poll(() => status()).toBe(200);
    expect((await send(port, '/')).headers['cache-control']).toBe('no-cache');
    await daemon.rewriteConfig({ server: { auth: { kind: 'header', name: 'X-User' }, trustedProxies: ['192.0.2.1'] } });
    await expect.poll(() => status()).toBe(401);
    expect(await status({ 'x-user': 'anna', authorization: ANNA })).toBe(401);
  });
});

const NOBODY = { kind: 'none' };
/** Each site contains a unique word. `beta` and `gamma` use the sign-in of the daemon, `delta` has its own. */
const SITES = [
  { domain: 'acme', title: 'Acme <Docs>', mark: 'anchorword', hosts: ['acme.test'], auth: NOBODY, reader: null },
  { domain: 'beta', mark: 'beaconword', hosts: [], basePath: '/beta/', reader: ANNA },
  { domain: 'gamma', mark: 'galleyword', hosts: ['gamma.test'], reader: ANNA },
  { domain: 'delta', mark: 'dolphinword', hosts: ['delta.test'], auth: { usersFile: './others' }, reader: BEN },
];

describe('several sites with different sign-ins', () => {
  let daemon: DaemonProcess;
  const get = (host: string, target: string, authorization: string | null, method = 'GET') =>
    send(portOf(daemon.site), target, { host, ...(authorization === null ? {} : { authorization }) }, method);

  beforeAll(async () => {
    const sites = SITES.map(({ mark, reader, ...site }) => ({ ...site, staticExport: { enabled: true } }));
    const config = { server: { auth: { kind: 'basic', usersFile: './users' } }, sites, search: { widget: true } };
    const archives = SITES.map(({ domain, mark }) => [`${domain}/docs-2024-06-01.tar.gz`, bundle(mark)]);
    const users = { users: ANNA_LINE, others: BEN_LINE };
    daemon = await startServing(bench, Object.fromEntries(archives), config, users);
    await untilSearchable(daemon);
  });

  it('each require their own sign-in, and do not accept the sign-in of another site', async () => {
    for (const { domain, mark, hosts, basePath = '/', reader } of SITES) {
      const host = hosts[0] ?? 'other.test';
      for (const credentials of [null, ANNA, BEN]) {
        for (const path of ['', 'guides/start', '_docshelf/search?q=word', '_docshelf/features.json', 'nothing']) {
          const answer = await get(host, basePath + path, credentials);
          const isIn = reader === null || credentials === reader;
          expect(answer.status === 401, `${domain} ${path} ${credentials}`).toBe(!isIn);
          if (!isIn) expect(JSON.stringify(answer)).not.toMatch(new RegExp(`${mark}|${domain}`));
        }
      }
    }
  });

  it('are listed on the shelf page only if they are open or accept the credentials of the reader', async () => {
    const listed = async (credentials: string | null, target = '/') => {
      const { body } = await get('other.test', target, credentials);
      return SITES.map(({ domain }) => domain).filter((domain) => body.includes(`data-domain="${domain}"`));
    };
    expect(await listed(null)).toEqual(['acme']);
    expect(await listed(BEN)).toEqual(['acme']);
    expect(await listed(ANNA)).toEqual(['acme', 'beta', 'gamma']);
    const open = await get('other.test', '/', null);
    expect(open.body).toContain('<a href="?sign-in">Sign in to see more</a>');
    expect(open.body).not.toMatch(/beta|gamma|delta/);
    expect(open.headers['cache-control']).toMatch(/^private/);
    expect(open.headers.vary).toContain('Authorization');
    const response = await get('other.test', '/?sign-in', null);
    expect(response).toMatchObject({ status: 401, headers: { 'www-authenticate': /^Basic/ } });
    expect(await listed(ANNA, '/?sign-in')).toEqual(['acme', 'beta', 'gamma']);
    expect((await get('other.test', '/', ANNA)).body).not.toContain('?sign-in"');
  });

  it('are searched together on the shelf page, except for sites that the reader cannot open', async () => {
    const found = async (credentials: string | null) => {
      const { body } = await get(
        'other.test',
        '/_docshelf/search?q=anchorword+beaconword+galleyword+dolphinword',
        credentials,
      );
      return SITES.filter(({ mark }) => body.includes(mark)).map(({ domain }) => domain);
    };
    expect(await found(null)).toEqual(['acme']);
    expect(await found(BEN)).toEqual(['acme']);
    expect(await found(ANNA)).toEqual(['acme', 'beta', 'gamma']);
  });

  it('are searched together from one site with scope=all, except for sites that the reader cannot open or that have another sign-in', async () => {
    const find = async (site: number, query: string, reader: string | null) => {
      const { hosts = [], basePath = '/' } = SITES[site] ?? {};
      const words = 'anchorword+beaconword+galleyword+dolphinword';
      return get(hosts[0] ?? 'other.test', `${basePath}_docshelf/search?q=${words}&${query}`, reader);
    };
    const sitesOf = async (site: number, reader: string | null) => {
      const { status, body } = await find(site, 'scope=all', reader);
      expect(status).toBe(200);
      return [...new Set((JSON.parse(body) as { site: string }[]).map((result) => result.site))].toSorted();
    };
    expect(await sitesOf(0, null)).toEqual(['acme']);
    // The name of another sign-in gives no access here.
    expect(await sitesOf(0, ANNA)).toEqual(['acme']);
    expect(await sitesOf(2, ANNA)).toEqual(['acme', 'beta', 'gamma']);
    expect(await sitesOf(3, BEN)).toEqual(['acme', 'delta']);
    expect((await find(2, 'scope=all', null)).status).toBe(401);
    expect((await find(0, 'scope=every', null)).status).toBe(400);
    expect((await find(0, 'scope=site', null)).body).not.toContain('"site":');
    const box = JSON.parse((await find(2, 'scope=all&view=box', ANNA)).body) as { results: object[] };
    expect(box.results).toContainEqual(
      expect.objectContaining({ site: { domain: 'acme', title: 'Acme <Docs>', address: '//acme.test/' } }),
    );
    const page = async () => (await get('acme.test', '/', null)).body;
    expect(await page()).toMatch(/<script type="module" src="[^"]+\/loader\.js" data-shelf><\/script>/);

    await daemon.rewriteConfig({ server: { shelf: false } });
    await expect.poll(page, { timeout: 30_000 }).not.toContain('data-shelf');
    expect(await sitesOf(2, ANNA)).toEqual(['gamma']);
    await daemon.rewriteConfig({ server: { shelf: true } });
    await expect.poll(page, { timeout: 30_000 }).toContain('data-shelf');
  });

  it('serve the assets of the shelf page to everybody', async () => {
    const { body } = await get('other.test', '/', null);
    const css = /href="(?<path>_docshelf\/assets\/[^"]+\.css)"/.exec(body)?.groups?.path ?? '';
    expect((await get('other.test', `/${css}`, null)).status).toBe(200);
  });
});

describe('sites with an identity provider', () => {
  it('have separate sessions that stay valid after a restart, and appear on the shelf page for signed-in readers only', async () => {
    const provider = await TestIdentityProvider.start();
    const [port = 0] = await freePorts(1);
    const origin = `http://127.0.0.1:${port}`;
    const callbacks = ['/acme/', '/beta/', '/'].map((path) => `${origin}${path}_docshelf/sign-in/callback`);
    await provider.serve({ redirectUris: callbacks });
    const open = { basePath: '/', hosts: ['open.test'], auth: { kind: 'none' } };
    const sites = [siteEntry('acme'), siteEntry('beta'), siteEntry('open', open)];
    const archives = ['acme', 'beta', 'open'].map((domain) => [
      `${domain}/docs-2024-06-01.tar.gz`,
      bundle(`word-of-${domain}`),
    ]);
    const auth = { kind: 'oidc', issuer: provider.issuer, clientId: CLIENT.id, clientSecretFile: './client-secret' };
    const server = { host: '127.0.0.1', port, publicUrl: origin, auth };
    const secret = { 'client-secret': `${CLIENT.secret}\n` };
    const config = { server, sites, search: {} };
    const first = await startServing(bench, Object.fromEntries(archives), config, secret);
    const browser = new BrowserLike();
    const listed = async (path: string) => {
      const { body } = await browser.visit(origin + path);
      return ['acme', 'beta', 'open'].filter((domain) => body.includes(`data-domain="${domain}"`));
    };
    expect(await listed('/')).toEqual(['open']);
    expect((await browser.visit(`${origin}/acme/guides/start`)).body).toContain('word-of-acme');
    const script = { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };
    expect((await browser.send(`${origin}/acme/_docshelf/features.json`, script)).status).toBe(200);
    expect((await browser.send(`${origin}/beta/`, script)).status).toBe(401);
    const stolenCookies = [...browser.cookies(origin)].map(([name, value]) => `${name}=${value}`).join('; ');
    expect((await send(port, '/beta/', { cookie: stolenCookies })).status).toBe(401);
    expect(await listed('/')).toEqual(['open']);
    expect(await listed('/?sign-in')).toEqual(['acme', 'beta', 'open']);
    expect(await listed('/')).toEqual(['acme', 'beta', 'open']);
    expect((await stat(join(first.dataDir, 'session.key'))).mode & 0o777).toBe(0o600);
    await first.stop();
    const second = await bench.start(null, { folder: first.folder });
    await second.until(({ state }) => state === 'ready');
    expect((await browser.send(`${origin}/acme/`, script)).status).toBe(200);
    expect((await browser.visit(`${origin}/_docshelf/sign-out`)).body).toMatch(/sign/i);
    for (const daemon of [first, second]) expect(daemon.log()).not.toContain(CLIENT.secret);
  });
});
