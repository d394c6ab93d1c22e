import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sha256Of } from '../acceptance/bundles.ts';
import { gz, rawTar } from '../helpers/archives.ts';
import { type ConfigFile, type DaemonProcess, openBench, waitFor } from '../helpers/daemon.ts';
import { bundleAnswer, httpServer, type LocalServer } from '../helpers/local-server.ts';
import { HAS_POSTGRES, PostgresServer } from '../helpers/postgres.ts';
import { HAS_NGINX, startRoundRobin } from '../helpers/round-robin.ts';
import { runs } from '../helpers/runs.ts';
import { hasChromium, type Reader, useChromium } from './reader.ts';

const REPLICAS = 3;
const PAGES = 8;
const VISITS_BETWEEN_SWAPS = 8;
const SWAPS = runs(1);

/** Each page has a script, a style sheet, and a module that the script loads later. Their names contain the version. */
function site(version: string): Buffer {
  const files: Record<string, string> = {};
  const asset = (kind: string, text: string): string => {
    const name = `${kind}-${sha256Of(text).slice(0, 16)}.${kind === 'style' ? 'css' : 'js'}`;
    files[`assets/${name}`] = text;
    return `/assets/${name}`;
  };
  for (let page = 0; page < PAGES; page += 1) {
    const late = asset('late', `export const version = '${version}'; /* ${page} */`);
    const style = asset('style', `html { --version: "${version}"; --page: ${page} }`);
    const script = asset(
      'page',
      `const version = '${version}'; const { documentElement: root } = document;
const late = await import('${late}');
const style = getComputedStyle(root).getPropertyValue('--version').trim();
const all = new Set([version, late.version, root.dataset.version, JSON.parse(style)]);
if (all.size > 1) console.error('mixed', ...all);
root.dataset.done = String(${page});`,
    );
    const links = Array.from({ length: PAGES }, (_, at) => `<a href="/page-${at}.html">${at}</a>`).join(' ');
    const html = `<!doctype html><html lang="en" data-version="${version}"><title>${page}</title><link rel="stylesheet" href="${style}"><script type="module" src="${script}"></script><main><h1>Page ${page} of ${version}</h1>${links}</main></html>`;
    files[`page-${page}.html`] = html;
    if (page === 0) files['index.html'] = html;
  }
  files['favicon.ico'] = 'icon';
  return gz(rawTar(Object.entries(files).map(([name, body]) => ({ name, body }))));
}

/** Searches for a page that each version has. @returns errors of the response */
async function searchOnPage(reader: Reader, page: number): Promise<string[]> {
  const { status, paths } = await reader.page.evaluate(async (wanted) => {
    const answer = await fetch(`/_docshelf/search?q=page+${wanted}`);
    const results = answer.status === 200 ? ((await answer.json()) as { path: string }[]) : [];
    return { status: answer.status, paths: results.map(({ path }) => path.replace(/#.*/, '')) };
  }, page);
  // The first page is also the start of the site.
  return paths.includes(page === 0 ? '/' : `/page-${page}.html`)
    ? []
    : [`a search for page ${page} is answered ${status}: ${paths}`];
}

const VERSIONS = Array.from({ length: SWAPS + 1 }, (_, at) => `v${at}`);

describe.skipIf(!HAS_POSTGRES || !HAS_NGINX || !hasChromium)('a reader of three replicas behind nginx', () => {
  const bench = openBench(afterEach);
  const chromium = useChromium();
  let origin: LocalServer;
  let database: string;

  beforeAll(async () => {
    const bundles = new Map(VERSIONS.map((version) => [`/${version}.tar.gz`, site(version)]));
    origin = await httpServer((request, response) => {
      const bytes = bundles.get(request.url ?? '');
      if (bytes === undefined) response.writeHead(404).end();
      else bundleAnswer(bytes, `"${request.url}"`)(request, response);
    });
    database = await (await PostgresServer.start()).createDatabase();
  });

  const pinned = (version: string): ConfigFile => ({
    staticExport: { bundleUrl: `${origin.origin}/${version}.tar.gz`, version },
  });

  const fetches = (version: string): number => origin.requests.filter(({ url }) => url === `/${version}.tar.gz`).length;

  /** @param folders data folder of each daemon */
  async function startReplicas(folders: readonly string[], more: ConfigFile = {}): Promise<DaemonProcess[]> {
    return Promise.all(
      folders.map(async (dir) => {
        const folder = await bench.folder();
        await writeFile(join(folder, 'database-url'), database);
        const config = { storage: { dir }, database: { urlFile: './database-url' }, network: { allowPrivate: true } };
        const { staticExport } = pinned('v0');
        return bench.start(
          { ...config, ...more, staticExport: { enabled: true, ...(staticExport as object) } },
          { folder },
        );
      }),
    );
  }

  /** Switches the daemons to each version in turn while a reader clicks and searches. @returns errors that the reader saw */
  async function readWhileRolling(
    replicas: readonly DaemonProcess[],
    site: string,
    { searches = false } = {},
  ): Promise<string[]> {
    const reader = await chromium.open(site);
    await reader.page.goto(`${site}/`);
    let visits = 0;
    let isOver = false;
    const noticed: string[] = [];
    const clicking = (async () => {
      while (!isOver) {
        const page = (visits * 3 + 1) % PAGES;
        await reader.page.click(`a[href="/page-${page}.html"]`);
        await reader.page.waitForFunction(
          (wanted) => document.documentElement.dataset.done === wanted && document.title === wanted,
          String(page),
        );
        if (searches) noticed.push(...(await searchOnPage(reader, page)));
        visits += 1;
      }
    })();
    const untilRead = async (): Promise<void> => {
      const until = visits + VISITS_BETWEEN_SWAPS;
      await Promise.race([
        clicking,
        waitFor(
          () => (visits >= until ? true : null),
          () =>
            `the reader is stuck: ${[...reader.failures.map(({ path, why }) => `${path} ${why}`), ...reader.complaints]}`,
        ),
      ]);
    };
    try {
      for (const version of VERSIONS.slice(1)) {
        for (const replica of replicas) {
          await replica.rewriteConfig(pinned(version));
          await replica.untilServing(version);
          await untilRead();
        }
      }
    } finally {
      isOver = true;
    }
    await clicking;
    noticed.push(...reader.failures.map(({ path, why }) => `${path}: ${why}`), ...reader.complaints);
    expect(await reader.page.locator('html').getAttribute('data-version')).toBe(VERSIONS.at(-1));
    await reader.close();
    return noticed;
  }

  it.each([
    { serving: 'one process', more: {} },
    { serving: 'one process with a search', more: { search: { enabled: true } } },
  ])('sees no error during a swap if the replicas share a folder (served from $serving)', async ({ more }) => {
    const shared = join(await bench.folder(), 'data');
    await mkdir(shared);
    const before = VERSIONS.map(fetches);
    const replicas = await startReplicas(
      Array.from({ length: REPLICAS }, () => shared),
      more,
    );
    const searches = 'search' in more;
    for (const replica of replicas) {
      await replica.untilServing('v0');
      if (searches) await replica.until(({ search }) => search.keyword === 'ready');
    }
    const proxy = await startRoundRobin(replicas.map((replica) => replica.site));
    expect(await readWhileRolling(replicas, proxy.origin, { searches })).toEqual([]);
    expect(VERSIONS.map((version, at) => fetches(version) - (before[at] ?? 0))).toEqual(VERSIONS.map(() => 1));
    const linesOf = (event: string) =>
      replicas.flatMap((replica) => replica.lines().filter((line) => line.event === event));
    expect(linesOf('taken-in')).toHaveLength(VERSIONS.length);
  });

  it('sees no error during a swap if each replica has its own folder and nginx retries a 404 at the next replica', async () => {
    const replicas = await startReplicas(Array.from({ length: REPLICAS }, () => './data'));
    for (const replica of replicas) await replica.untilServing('v0');
    const proxy = await startRoundRobin(
      replicas.map((replica) => replica.site),
      { elsewhere: 'http_404' },
    );
    expect(await readWhileRolling(replicas, proxy.origin)).toEqual([]);
  });
});
