import { readFile } from 'node:fs/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import type { BundleSource, OwnExportService } from '../../src/deploy/ports.ts';
import type { SiteStore } from '../../src/deploy/releases/site-store.ts';
import { ownExports } from '../../src/deploy/sources/own-exports.ts';
import { untilAborted } from '../helpers/until-aborted.ts';
import {
  type Bundle,
  FakeSource,
  fault,
  newStore,
  openDaemon,
  packBundle,
  type SettingsOf,
  seedShelf,
  type TestDaemon,
  until,
} from './workbench.ts';

const seed = await seedShelf();
const v9 = await packBundle('acme-export-2024-09-09.tar.gz', 'nine', { version: 'v9' });

/** Completed jobs of the domain acme, newest last. */
class FakeService implements OwnExportService {
  readonly jobs: { readonly jobId: string; readonly bundle: Bundle; readonly version: string | null }[] = [];
  readonly calls: string[] = [];
  /** Delays a read. */
  reading: Promise<unknown> = Promise.resolve();

  complete(bundle: Bundle, version: string | null = null): void {
    this.jobs.push({ jobId: `se_${this.jobs.length}`, bundle, version });
  }

  async newest(domain: string, version: string | null) {
    const job = this.jobs.findLast((each) => domain === 'acme' && (version === null || each.version === version));
    if (job === undefined) return null;
    return { jobId: job.jobId, sha256: job.bundle.digest, signature: null, traceparent: null };
  }

  async read(domain: string, jobId: string, signal: AbortSignal) {
    this.calls.push(`${domain} ${jobId}`);
    const aborted = untilAborted(signal);
    await Promise.race([this.reading, aborted]);
    const bundle = this.jobs.find((each) => each.jobId === jobId)?.bundle;
    if (bundle === undefined) throw fault('bundle_gone');
    const bytes = await readFile(bundle.file);
    const stream = (async function* () {
      yield bytes;
    })();
    return { stream, sizeBytes: bytes.length, fileName: bundle.fileName };
  }
}

let store: SiteStore;
let service: FakeService;
beforeEach(async () => {
  store = await newStore();
  service = new FakeService();
});

const SETTINGS: SettingsOf = { fromExports: true, domain: 'acme' };

async function open(settings: SettingsOf = {}) {
  const own = ownExports(service, () => store.domain);
  return openDaemon(store, { ...SETTINGS, ...settings }, new OwnSource(own), undefined, { ownExports: own });
}

/** A daemon that has settled. */
async function start(settings?: SettingsOf): Promise<TestDaemon> {
  const daemon = await open(settings);
  await daemon.deployment.reconcile();
  return daemon;
}

/** Completes an export, and waits until the daemon serves it. */
async function serveExport({ deployment, site }: TestDaemon, bundle: Bundle, version: string | null = null) {
  service.complete(bundle, version);
  deployment.exportCompleted();
  await until(() => expect(site.active?.digest).toBe(bundle.digest));
}

/** The daemon of the tests has one source. */
class OwnSource extends FakeSource {
  override readonly links: RegExp;
  readonly #own: BundleSource;

  constructor(own: BundleSource) {
    super();
    this.links = own.links;
    this.#own = own;
  }

  override open(...request: Parameters<BundleSource['open']>): ReturnType<BundleSource['open']> {
    return this.#own.open(...request);
  }
}

describe('staticExport.from: exports', () => {
  test('serves the newest completed export, with the version label from its file name', async () => {
    service.complete(seed.january);
    service.complete(seed.february);
    const { deployment, site } = await start();
    expect(site.active).toMatchObject({ version: '2024-02-01', digest: seed.february.digest });
    expect(deployment.state).toBe('ready');
    expect(service.calls).toEqual(['acme se_1']);
  });

  test('waits if there is no export, names the command that starts an export, and serves the first completed export', async () => {
    const daemon = await start();
    const { deployment } = daemon;
    expect(deployment.state).toBe('waiting');
    expect(deployment.journal.lastError).toMatchObject({
      code: 'no_bundle',
      next: expect.stringContaining('export start'),
    });
    await serveExport(daemon, seed.march);
    expect(deployment.state).toBe('ready');
    expect(deployment.journal.lastError).toBe(null);
  });

  test('serves each newer export, and does not read a stored export again', async () => {
    service.complete(seed.january);
    const daemon = await start();
    const { deployment, site } = daemon;
    await serveExport(daemon, seed.february);
    service.complete(seed.february);
    deployment.exportCompleted();
    await deployment.reconcile();
    expect(site.active?.digest).toBe(seed.february.digest);
    expect(service.calls).toEqual(['acme se_0', 'acme se_1']);
  });

  test('stops reading an export if a newer export completes', async () => {
    service.complete(seed.january);
    service.reading = new Promise(() => undefined);
    const { deployment, site } = await open();
    const settled = deployment.reconcile();
    await until(() => expect(service.calls).toHaveLength(1));
    service.complete(seed.february);
    service.reading = Promise.resolve();
    deployment.exportCompleted();
    await settled;
    await until(() => expect(site.active?.digest).toBe(seed.february.digest));
    expect((await deployment.readStored()).versions.map(({ version }) => version)).toEqual(['2024-02-01']);
  });

  test('serves the last active version with the state stale after a restart if the newest export cannot be read', async () => {
    service.complete(seed.january);
    const first = await start();
    await first.stop();
    service.complete(seed.february);
    service.reading = Promise.reject(fault('bundle_gone'));
    service.reading.catch(() => undefined);
    const { deployment, site } = await start();
    expect(site.active?.digest).toBe(seed.january.digest);
    expect(deployment.state).toBe('stale');
    expect(deployment.journal.lastError?.code).toBe('bundle_gone');
  });

  test('waits for an export of the pinned version, serves that export, and ignores exports of other versions', async () => {
    service.complete(seed.january);
    const daemon = await start({ version: 'v9' });
    const { deployment, site } = daemon;
    expect(deployment.state).toBe('waiting');
    expect(deployment.journal.lastError?.message).toContain('version "v9" of "acme"');
    await serveExport(daemon, v9, 'v9');
    service.complete(seed.february);
    deployment.exportCompleted();
    await deployment.reconcile();
    expect(site.active?.version).toBe('v9');
  });

  test('keeps the version that an operator activated until the next export', async () => {
    service.complete(seed.january);
    const daemon = await start();
    const { deployment, site } = daemon;
    await serveExport(daemon, seed.february);
    await deployment.activate('2024-01-01');
    deployment.exportCompleted();
    await deployment.reconcile();
    expect(site.active?.version).toBe('2024-01-01');
    await serveExport(daemon, seed.march);
  });

  test('is the only value with which a site requests exports', async () => {
    service.complete(seed.january);
    const { deployment } = await start({ fromExports: false });
    deployment.exportCompleted();
    await deployment.reconcile();
    expect(service.calls).toEqual([]);
    expect(deployment.journal.lastError?.code).toBe('no_version');
  });

  test('rejects an export whose digest differs from staticExport.sha256', async () => {
    service.complete(seed.january);
    const { deployment } = await start({ sha256: seed.february.digest });
    expect(deployment.journal.lastError?.code).toBe('wrong_digest');
    expect(service.calls).toEqual([]);
  });
});
