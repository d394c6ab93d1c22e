import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { READ_ROUTES } from '../../src/http/site/site.ts';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { bundle } from './bundles.ts';
import { siteEntry, startServing, untilSearchable } from './start.ts';

/**
 * No response of one site appears under the host or path of another. The routes come from the site listener's table, so that new
 * ones are probed too.
 */

const bench = openBench(afterAll);
const page = (mark: string) => `<!doctype html><title>${mark}</title><p>${mark}</p>`;

/** Each site has a unique word in its pages, 404 page, assets and title. */
const SITES = [
  { domain: 'acme', mark: 'anchorword', hosts: [], basePath: '/' },
  { domain: 'beta', mark: 'beaconword', hosts: [], basePath: '/beta/' },
  { domain: 'delta', mark: 'dolphinword', hosts: [], basePath: '/beta/delta/' },
  { domain: 'gamma', mark: 'galleyword', hosts: ['gamma.test'], basePath: '/' },
  { domain: 'kappa', mark: 'kelpword', hosts: ['gamma.test', 'kappa.test'], basePath: '/kappa/' },
] as const;
type ProbedSite = (typeof SITES)[number];

const FILES = ['only-<domain>.html', 'assets/<domain>.css', '404.html', 'index.html'];

let daemon: DaemonProcess;
beforeAll(async () => {
  const archives = SITES.map(({ domain, mark }) => {
    const more = {
      [`only-${domain}.html`]: page(mark),
      [`assets/${domain}.css`]: `/* ${mark} */`,
      '404.html': page(`${mark} not found`),
    };
    return [`${domain}/docs-2024-06-01.tar.gz`, bundle(mark, more)];
  });
  const sites = SITES.map(({ domain, hosts, basePath }) => siteEntry(domain, { hosts, basePath }));
  daemon = await startServing(bench, Object.fromEntries(archives), { sites, search: {} });
  await untilSearchable(daemon);
});

/** The site that must respond there according to contract 2.1, or null. */
function ownerOf(host: string, path: string): ProbedSite | null {
  const ofHost = SITES.filter(({ hosts }) => (hosts as readonly string[]).includes(host));
  const named = ofHost.length > 0 ? ofHost : SITES.filter(({ hosts }) => hosts.length === 0);
  const fitting = named.filter(({ basePath }) => path.startsWith(basePath));
  return fitting.toSorted((a, b) => b.basePath.length - a.basePath.length)[0] ?? null;
}

function send(host: string, target: string, method = 'GET'): Promise<string> {
  const { hostname, port } = new URL(daemon.site);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path: target, method, headers: { host } }, (response) => {
      const chunks = [JSON.stringify([response.statusCode, response.headers])];
      response.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
      response.on('end', () => resolve(chunks.join('\n')));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Paths of docshelf's routes, and of each site's files. */
function pathsOfRoutes(): string[] {
  const files = SITES.flatMap(({ domain }) => FILES.map((file) => `/${file.replace('<domain>', domain)}`));
  return [...READ_ROUTES.flatMap((route) => SITES.map(({ mark }) => `${route}?q=${mark}`)), ...files];
}

const PLACES = ['/', '/beta/', '/beta/delta/', '/kappa/', '/none/'];
const HOSTS = ['localhost', '127.0.0.1', 'gamma.test', 'kappa.test', 'other.test'];
/** Ways around a base path, with a prefix. */
const DETOURS = [
  (base: string, path: string) => `${base}..${path}`,
  (base: string, path: string) => `${base}%2e%2e${path}`,
  (base: string, path: string) => `${base}..%2f..${path}`,
  (base: string, path: string) => `/${base}${path}`,
  (base: string, path: string) => `${base.slice(0, -1)}%2f${path.slice(1)}`,
  (base: string, path: string) => `${base}\\..${path}`,
  (base: string, path: string) => `http://gamma.test${base.slice(0, -1)}${path}`,
];

test('no route of one site serves content under the host or path of another site', async () => {
  const paths = pathsOfRoutes();
  expect(paths.some((path) => path.startsWith('/_docshelf/search'))).toBe(true);
  expect(paths.some((path) => path.startsWith('/_docshelf/features.json'))).toBe(true);
  let probes = 0;
  const leaks: string[] = [];
  const probe = async (host: string, target: string, owner: ProbedSite | null, method?: string): Promise<void> => {
    probes += 1;
    const answer = await send(host, target, method);
    const text = answer.replaceAll(target, '').replaceAll(/q=\w+/g, '');
    const foreign = SITES.filter(({ mark, domain }) => {
      return domain !== owner?.domain && (text.includes(mark) || text.includes(`"domain":"${domain}"`));
    });
    if (foreign.length > 0) leaks.push(`${method ?? 'GET'} ${host} ${target}: ${foreign.map(({ domain }) => domain)}`);
  };
  for (const host of HOSTS) {
    for (const place of PLACES) {
      for (const path of paths) {
        const target = place.slice(0, -1) + path;
        // The search of the shelf covers all listed sites.
        if (ownerOf(host, target) === null && path.startsWith('/_docshelf/search') && place === '/') continue;
        await probe(host, target, ownerOf(host, target));
      }
      await probe(host, place, ownerOf(host, place), 'HEAD');
      await probe(host, place, ownerOf(host, place), 'POST');
    }
  }
  for (const detour of DETOURS) {
    for (const place of PLACES) {
      for (const path of ['/only-acme.html', '/only-gamma.html', '/_docshelf/search?q=anchorword']) {
        const target = detour(place, path);
        // The site of that host responds, and no other one.
        const host = target.startsWith('http') ? 'gamma.test' : 'kappa.test';
        const answer = await send('kappa.test', target);
        probes += 1;
        const allowed = SITES.filter(({ hosts }) => (hosts as readonly string[]).includes(host)).map(
          ({ mark }) => mark,
        );
        const marks = SITES.map(({ mark }) => mark).filter((mark) => answer.replaceAll(target, '').includes(mark));
        if (marks.some((mark) => !(allowed as string[]).includes(mark))) leaks.push(`kappa.test ${target}: ${marks}`);
      }
    }
  }
  console.log(`figure: ${probes} probes of isolation`);
  expect(leaks).toEqual([]);
  expect(probes).toBeGreaterThan(500);
});

test('the shelf page lists and searches all sites if no site matches the host, and a listed site responds at its link', async () => {
  const shelf = await send('kappa.test', '/');
  for (const { domain } of SITES) expect(shelf).toContain(`data-domain="${domain}"`);
  const found = await send('kappa.test', '/_docshelf/search?q=galleyword');
  expect(found).toContain('"site":"gamma"');
  expect(await send('kappa.test', '/nothing-here')).toMatch(/^\[404,/);
  expect(await send('kappa.test', '/kappa/')).toContain('kelpword');
});
