import { afterEach, expect, test } from 'vitest';
import type { SearchResult } from '../../src/search/index.ts';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { freePort } from '../helpers/free-ports.ts';
import { bundle, sha256Of } from './bundles.ts';
import { siteEntry, startServing } from './start.ts';

const bench = openBench(afterEach);
const KEY = 'svc_dsc_public';

const page = (title: string, text: string): string =>
  `<!doctype html><html lang="en"><title>${title}</title><main><h1>${title}</h1><p>${text}</p></main></html>`;

const LIGHTHOUSE = bundle('light', {
  'lantern.html': page('Lantern', 'The lantern of the lighthouse burns all night.'),
});
const BAKERY = bundle('bread', { 'dough.html': page('Dough', 'Knead the dough and let it rest by the lantern.') });
const GARAGE = bundle('cars', { 'engine.html': page('Engine', 'Fixing the engine of a vehicle by a lantern.') });

const entry = (domain: string) => siteEntry(domain, { hosts: domain === 'cars' ? ['cars.test'] : [] });

/** Starts a daemon with one site per archive. */
async function start(archives: Readonly<Record<string, Uint8Array>>, search: object) {
  const port = await freePort();
  const keys = [{ id: 'all', sha256: sha256Of(KEY) }];
  const config = { api: { port }, search: { keys, model: 'builtin', ...search }, log: { access: false } };
  const daemon = await startServing(
    bench,
    Object.fromEntries(Object.entries(archives).map(([domain, bytes]) => [`${domain}/x-2024-06-01.tar.gz`, bytes])),
    { sites: Object.keys(archives).map(entry), ...config },
  );
  return { daemon, api: `http://127.0.0.1:${port}` };
}

function post(api: string, domain: string, query: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` };
  return fetch(`${api}/v1/search/${domain}`, { method: 'POST', headers, body: JSON.stringify({ query }) });
}

async function pathsOf(response: Promise<Response>): Promise<string[]> {
  const answer = await response;
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as SearchResult[]).map(({ path }) => path.replace(/#.*$/, ''));
}

const untilAll = (daemon: DaemonProcess, leg: 'keyword' | 'semantic', count: number) =>
  daemon.until(({ sites }) => sites?.filter(({ search }) => search?.[leg] === 'ready').length === count);

test('every site of a daemon is searched at its own domain and under its own path, by words and by meaning', async () => {
  const { daemon, api } = await start({ light: LIGHTHOUSE, bread: BAKERY, cars: GARAGE }, {});
  const { search, sites } = await untilAll(daemon, 'semantic', 3);
  expect([search, sites?.map((each) => each.search?.embedded === each.search?.sections)]).toEqual([
    null,
    [true, true, true],
  ]);
  expect(await pathsOf(post(api, 'cars', 'automobile repair'))).toContain('/cars/engine');
  expect(await pathsOf(post(api, 'cars.test', 'automobile repair'))).toContain('/cars/engine');
  expect((await pathsOf(post(api, 'light', 'lantern')))[0]).toBe('/light/lantern');
  expect((await pathsOf(post(api, 'bread', 'lantern')))[0]).toBe('/bread/dough');
  expect((await pathsOf(fetch(`${daemon.site}/bread/_docshelf/search?q=lantern`)))[0]).toBe('/bread/dough');
  expect((await post(api, 'nowhere', 'lantern')).status).toBe(404);
});

test('search skips a removed site until it is restored', async () => {
  const { daemon, api } = await start({ light: LIGHTHOUSE, bread: BAKERY }, { model: 'off' });
  await untilAll(daemon, 'keyword', 2);
  expect((await pathsOf(post(api, 'bread', 'lantern')))[0]).toBe('/bread/dough');
  await daemon.rewriteConfig({ sites: [entry('light')] });
  await daemon.until((status) => status.sites?.length === 1);
  expect((await post(api, 'bread', 'lantern')).status).toBe(404);
  expect((await pathsOf(post(api, 'light', 'lantern')))[0]).toBe('/light/lantern');

  await daemon.rewriteConfig({ sites: [entry('light'), entry('bread')] });
  await untilAll(daemon, 'keyword', 2);
  expect((await pathsOf(post(api, 'bread', 'lantern')))[0]).toBe('/bread/dough');
  expect(await daemon.stop()).toBe(0);
});
