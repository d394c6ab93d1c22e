import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { startS3Server, storeAt } from '../export/stores/s3-server.ts';
import { constantSeries, firing, HAS_PROMTOOL } from '../helm/promtool.ts';
import { type DaemonProcess, openBench, waitFor } from '../helpers/daemon.ts';
import { httpServer } from '../helpers/local-server.ts';
import { HAS_POSTGRES, PostgresServer } from '../helpers/postgres.ts';
import { bundle } from './bundles.ts';
import { startExporter } from './export-service.ts';

/** Metrics of running daemons whose servers fail and return, and the alerts that they cause. */
const bench = openBench(afterEach);
/** By default, Prometheus discards a longer scrape. */
const SCRAPE_MS_MAX = 10_000;
/** A state can be cached for half a minute. */
const CHANGE_MS_MAX = 90_000;

async function scrape({ admin }: DaemonProcess): Promise<string> {
  const response = await fetch(`${admin}/metrics`, { signal: AbortSignal.timeout(SCRAPE_MS_MAX) });
  return response.text();
}

async function untilMetrics(daemon: DaemonProcess, ...lines: string[]): Promise<string> {
  let text = '';
  return waitFor(
    async () => {
      text = await scrape(daemon);
      const seen = new Set(text.split('\n'));
      return lines.every((line) => seen.has(line)) ? text : null;
    },
    () => `the metrics stay ${text}\n${daemon.log()}`,
    CHANGE_MS_MAX,
  );
}

const up = (dependency: string, value: 0 | 1): string => `docshelf_dependency_up{dependency="${dependency}"} ${value}`;

function expectAlerts(metrics: string, alerts: readonly string[]): void {
  if (HAS_PROMTOOL) expect(firing({ series: { up: '1x240', ...constantSeries(metrics) } })).toEqual(alerts);
}

/** A database server, and a function that starts an exporter with a database of it. */
async function withDatabase() {
  const postgres = await PostgresServer.start();
  const folder = await bench.folder();
  await writeFile(join(folder, 'database-url'), await postgres.createDatabase(), { mode: 0o600 });
  const start = async (config = {}) =>
    (await startExporter(bench, { database: { urlFile: './database-url' }, ...config }, { folder })).daemon;
  return { postgres, start };
}

describe.runIf(HAS_POSTGRES)('docshelf_dependency_up', () => {
  test('is 0 for PostgreSQL and for the bucket while they are stopped, and 1 when both run again', async () => {
    const { postgres, start } = await withDatabase();
    const bucket = await startS3Server();
    const daemon = await start({ exportApi: { store: storeAt(bucket.endpoint) } });
    const sound = await untilMetrics(daemon, up('database', 1), up('bucket', 1));
    expectAlerts(sound, []);

    await postgres.stop();
    await bucket.close();
    const failed = await untilMetrics(daemon, up('database', 0), up('bucket', 0));
    expectAlerts(failed, ['DocshelfDependencyDown']);
    const { notices } = await daemon.status();
    expect(notices).toEqual(
      expect.arrayContaining([
        'The database (database.urlFile) does not respond. To find the cause, run "docshelf doctor".',
        'The bucket of exports (exportApi.store) does not respond. To find the cause, run "docshelf doctor".',
      ]),
    );

    await postgres.go();
    await startS3Server(Number(URL.parse(bucket.endpoint)?.port));
    expectAlerts(await untilMetrics(daemon, up('database', 1), up('bucket', 1)), []);
  });

  test('becomes 0, without a timeout of the scrape, if PostgreSQL accepts connections but does not respond', async () => {
    const { postgres, start } = await withDatabase();
    const daemon = await start();
    await untilMetrics(daemon, up('database', 1), 'docshelf_export_jobs{status="queued"} 0');
    const resume = await postgres.freeze();
    bench.onEnd(resume);
    const failed = await untilMetrics(daemon, up('database', 0));
    expect(failed).not.toContain('docshelf_export_jobs{');
    expectAlerts(failed, ['DocshelfDependencyDown']);
    expect((await daemon.status()).state).toBe('off');
    resume();
    await untilMetrics(daemon, up('database', 1), 'docshelf_export_jobs{status="queued"} 0');
  });

  test('is 0 from the start if PostgreSQL is stopped when the daemon starts', async () => {
    const { postgres, start } = await withDatabase();
    await postgres.stop();
    const daemon = await start();
    expectAlerts(await untilMetrics(daemon, up('database', 0)), ['DocshelfDependencyDown']);
    await postgres.go();
    await untilMetrics(daemon, up('database', 1));
  });
});

describe('docshelf_fetch_failing', () => {
  const GOOD = bundle('good');
  const startOrigin = async (): Promise<string> => {
    const server = await httpServer((request, response) => {
      if (request.url?.startsWith('/good')) response.end(GOOD);
      else response.writeHead(404).end();
    });
    return server.origin;
  };

  test('stays 1 after a failed fetch, even if another error follows, until docshelf has fetched the bundle', async () => {
    const link = { bundleUrl: `${await startOrigin()}/dead-2024-06-01.tar.gz` };
    const daemon = await bench.start({ network: { retries: 0 }, staticExport: link });
    const failed = await untilMetrics(daemon, 'docshelf_fetch_failing 1', 'docshelf_ready 0');
    expectAlerts(failed, ['DocshelfFetchFailing', 'DocshelfNotReady']);

    await writeFile(join(daemon.dataDir, 'inbox', 'docs-2024-07-01.tar.gz'), 'no archive');
    await daemon.untilError('unknown_format');
    expect(await scrape(daemon)).toContain('\ndocshelf_fetch_failing 1\n');
    const config = await readFile(daemon.configFile, 'utf8');
    await daemon.replaceConfig(`${config}\nunknown: 1\n`);
    await daemon.untilError('config_invalid');
    expect(await scrape(daemon)).toContain('\ndocshelf_fetch_failing 1\n');

    await daemon.replaceConfig(config.replace('/dead-', '/good-'));
    expectAlerts(await untilMetrics(daemon, 'docshelf_fetch_failing 0', 'docshelf_ready 1'), []);
  });

  test('is 1 for a site whose bundleUrl cannot be fetched, and 0 for the other sites of the daemon', async () => {
    const origin = await startOrigin();
    const site = (domain: string, name: string) => ({
      domain,
      hosts: [`${domain}.localhost`],
      staticExport: { enabled: true, bundleUrl: `${origin}/${name}-2024-06-01.tar.gz` },
    });
    const sites = [site('acme', 'dead'), site('globex', 'good'), site('initech', 'good')];
    const daemon = await bench.start({ staticExport: null, network: { retries: 0 }, sites });
    const failed = await untilMetrics(
      daemon,
      'docshelf_ready 1',
      'docshelf_fetch_failing{site="acme"} 1',
      ...['globex', 'initech'].flatMap((each) => [
        `docshelf_fetch_failing{site="${each}"} 0`,
        `docshelf_state{site="${each}",state="ready"} 1`,
      ]),
    );
    expectAlerts(failed, ['DocshelfFetchFailing', 'DocshelfSiteWaiting']);
  });
});
