import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundle, folderOf } from '../../test/acceptance/bundles.ts';
import { crawlOf } from '../../test/acceptance/crawl-service.ts';
import { adminKey, startExporter } from '../../test/acceptance/export-service.ts';
import { renderFolder } from '../../test/export/markdown/render-folder.ts';
import type { Bench, ConfigFile, DaemonProcess } from '../../test/helpers/daemon.ts';
import { httpServer } from '../../test/helpers/local-server.ts';
import { importSite } from './import-site.ts';

/** Starts daemons in typical states, each with `admin.token`. */

export const TOKEN = 'a-token-for-pictures';
const ADMIN = { port: 0, token: TOKEN };
const AUTHORIZED = { Authorization: `Bearer ${TOKEN}` };
const ROOT = join(import.meta.dirname, '../..');
const MONTHS = ['04', '05', '06', '07', '08', '09', '10', '11'];
const SITES = 200;
/** Number of pages before the site stops responding. */
const PAGES_ANSWERED = 90;

/** Imports monthly versions of the manual. Each version changes another fifth of the pages, and adds one of the last pages. */
async function importMonths(bench: Bench, daemon: DaemonProcess, months: readonly string[]): Promise<void> {
  const { files } = await renderFolder(join(ROOT, 'docs'), { version: '2026' });
  const pages = [...files.keys()].filter((path) => path.endsWith('.html') && path !== '404.html').sort();
  for (const [month, name] of months.entries()) {
    const later = new Set(pages.slice(pages.length - (months.length - 1 - month)));
    const changed = new Set(pages.filter((_, page) => page % 5 === month % 5));
    const of = Array.from(files, ([path, bytes]): [string, Uint8Array] => [
      path,
      changed.has(path) ? noted(bytes) : bytes,
    ]);
    await importSite(bench, daemon, {
      files: new Map(of.filter(([path]) => !later.has(path))),
      version: `2026-${name}-01`,
    });
  }
}

function noted(page: Uint8Array): Uint8Array {
  return Buffer.from(Buffer.from(page).toString().replace('</h1>', '</h1><p>This page has been revised.</p>'));
}

const start = (bench: Bench, { staticExport = {}, ...config }: ConfigFile = {}): Promise<DaemonProcess> =>
  bench.start({
    deployment: { domain: 'acme' },
    staticExport: { enabled: true, ...(staticExport as ConfigFile) },
    admin: ADMIN,
    search: {},
    ...config,
  });

/** Starts a server that responds as S3 does to an expired link. @returns the link */
async function expiredLink(bench: Bench): Promise<string> {
  const server = await httpServer((_, response) =>
    response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>'),
  );
  bench.onEnd(() => server.close());
  return `${server.origin}/acme-export-2026-12-01.tar.gz`;
}

/** Starts a site with endless pages, which stops responding after some pages. @returns its address */
async function endlessSite(bench: Bench): Promise<string> {
  const server = await httpServer((request, response) => {
    const page = Number(/\d+/.exec(request.url ?? '')?.[0] ?? 0);
    if (page > PAGES_ANSWERED) return;
    const links = Array.from({ length: 3 }, (_, at) => `<a href="/page-${page * 2 + at + 1}">On</a>`).join(' ');
    response.setHeader('content-type', 'text/html');
    response.end(
      `<!doctype html><html lang="en"><title>Page ${page}</title><main><h1>Page ${page}</h1>${links}</main></html>`,
    );
  });
  bench.onEnd(() => server.close());
  return server.origin;
}

async function ask(daemon: DaemonProcess, method: string, path: string, body: object = {}): Promise<unknown> {
  const headers = { ...AUTHORIZED, 'Content-Type': 'application/json' };
  const answer = await fetch(`${daemon.admin}/v1/${path}`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
  return answer.status === 204 ? null : answer.json();
}

/** Starts a daemon with many versions of the manual, search, jobs in all states, keys, and changes by several users. */
async function startWhole(bench: Bench): Promise<DaemonProcess> {
  const source = (kind: string, path: string): ConfigFile => ({ source: { kind, path } });
  const domains = {
    acme: source('markdown', join(ROOT, 'docs')),
    handbook: source('markdown', join(ROOT, 'examples/demo/handbook')),
    portal: { source: crawlOf(await endlessSite(bench)) },
    changelog: source('folder', './changelog'),
  };
  const service = await startExporter(bench, {
    admin: ADMIN,
    staticExport: { enabled: true, keep: MONTHS.length },
    search: { model: 'builtin' },
    exportApi: { browser: { verify: 'off' } },
    organizations: [{ id: 'acme-inc', plan: 'enterprise', domains, keys: [adminKey('ci', 'svc_ci')] }],
  });
  const { daemon } = service;
  await importMonths(bench, daemon, MONTHS);
  const client = service.as('svc_ci');
  for (const domain of ['changelog', 'handbook'])
    await client.ended((await client.start(domain, { version: '2026-11-01' })).jobId);
  const { jobId } = await client.start('portal', { version: '2026-11-01' });
  await client.until(jobId, ({ progress }) => progress > 15);
  await client.start('portal', { version: '2026-12-01' });

  const made: string[] = [];
  for (const [name, type, more] of [
    ['search box of docs.acme.dev', 'assistant', {}],
    ['nightly pipeline', 'admin', { expiresAt: '2027-06-30T23:59:59Z' }],
    ['a contractor', 'admin', {}],
  ] as const) {
    const key = await ask(daemon, 'POST', 'keys', { organization: 'acme-inc', type, name, ...more });
    made.push((key as { readonly id: string }).id);
  }
  await ask(daemon, 'DELETE', `keys/${made.at(-1)}`);
  await ask(daemon, 'POST', 'versions/2026-10-01/activate');
  await ask(daemon, 'POST', 'rollback');
  await ask(daemon, 'POST', 'versions/2026-12-01/activate').catch(() => undefined);
  await daemon.until(({ search }) => search.semantic === 'ready');
  return daemon;
}

async function startStale(bench: Bench): Promise<DaemonProcess> {
  const daemon = await start(bench);
  await importMonths(bench, daemon, ['11']);
  await daemon.rewriteConfig({ staticExport: { version: '2026-12-01', bundleUrl: await expiredLink(bench) } });
  await daemon.until(({ state }) => state === 'stale');
  return daemon;
}

async function startRefused(bench: Bench): Promise<DaemonProcess> {
  const daemon = await start(bench);
  await importMonths(bench, daemon, ['11']);
  await daemon.rewriteConfig({ staticExport: { verison: '2026-12-01' }, search: { widget: 'yes' } });
  await daemon.until(({ lastReload }) => lastReload?.ok === false);
  return daemon;
}

async function startOff(bench: Bench): Promise<DaemonProcess> {
  const daemon = await start(bench);
  await importMonths(bench, daemon, ['11']);
  await daemon.rewriteConfig({ staticExport: { enabled: false } });
  await daemon.until(({ state }) => state === 'off');
  return daemon;
}

/** Starts a daemon with a damaged older version. */
async function startDamaged(bench: Bench): Promise<DaemonProcess> {
  const daemon = await start(bench);
  await importMonths(bench, daemon, ['10', '11']);
  const { versions } = await daemon.status();
  const digest = versions.find(({ version }) => version === '2026-10-01')?.digest ?? '';
  await writeFile(join(daemon.dataDir, 'releases', digest, 'files.table'), 'no table');
  return daemon;
}

async function startAirGapped(bench: Bench): Promise<DaemonProcess> {
  const daemon = await start(bench, {
    deployment: { domain: 'acme', type: 'air-gapped' },
    features: { search: true, assistant: true, apiPlayground: true },
  });
  await importMonths(bench, daemon, ['11']);
  await daemon.until(({ search }) => search.keyword === 'ready');
  return daemon;
}

async function startWall(bench: Bench): Promise<DaemonProcess> {
  const folder = await bench.folder();
  await folderOf(join(folder, 'bundles'), { 'export-2026-11-01.tar.gz': bundle('november') });
  await folderOf(join(folder, 'none'), {});
  const sites = Array.from({ length: SITES }, (_, at) => {
    const domain = `team-${String(at + 1).padStart(3, '0')}`;
    // Leave every ninth site without a bundle.
    const preload = join(folder, at % 9 === 4 ? 'none' : 'bundles');
    return { domain, basePath: `/${domain}/`, staticExport: { enabled: true, preload } };
  });
  const daemon = await bench.start({ sites, staticExport: null, admin: ADMIN }, { folder });
  const expected = sites.filter((_, at) => at % 9 !== 4).length;
  await daemon.until(({ sites: all = [] }) => all.filter(({ state }) => state === 'ready').length === expected);
  return daemon;
}

export const CONSOLE_EXAMPLES = {
  whole: startWhole,
  waiting: async (bench) => {
    const daemon = await start(bench, { staticExport: { bundleUrl: await expiredLink(bench) } });
    await daemon.untilError('link_expired');
    return daemon;
  },
  stale: startStale,
  refused: startRefused,
  off: startOff,
  damaged: startDamaged,
  airGapped: startAirGapped,
  wall: startWall,
} as const satisfies Readonly<Record<string, (bench: Bench) => Promise<DaemonProcess>>>;
