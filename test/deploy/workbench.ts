/** Tools of the deploy tests: temporary data folders, real bundles, the real worker, and an in-memory source. */
import { cp, mkdir, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { vi } from 'vitest';
import { Deployment } from '../../src/deploy/deployment.ts';
import { type ImportedBundle, Importer, type ImportRequest } from '../../src/deploy/import/importer.ts';
import {
  DaemonRegistration,
  type DeployEvent,
  importSlots,
  openDataFolder,
  ServedRecord,
  SiteStore,
  sweepDataFolder,
} from '../../src/deploy/index.ts';
import type { BundleSource, OpenedBundle } from '../../src/deploy/ports.ts';
import type { DeploySettings } from '../../src/deploy/settings.ts';
import type { DeploymentOptions, SiteContext } from '../../src/deploy/site-context.ts';
import { Journal } from '../../src/deploy/status.ts';
import { DocshelfError, type ErrorCode } from '../../src/domain/errors.ts';
import { ARCHIVE_LIMITS } from '../../src/domain/limits.ts';
import type { KeptRelease, ReleaseView } from '../../src/domain/release.ts';
import { Secret } from '../../src/domain/secret.ts';
import { NO_TRACES } from '../../src/traces/tracer.ts';
import { onFileEnd } from '../helpers/file-end.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { packTarGz } from '../helpers/pack-tar-gz.ts';
import { untilAborted } from '../helpers/until-aborted.ts';
import { unpackHere } from './unpackers.ts';

export async function newStore(): Promise<SiteStore> {
  return openStore(newFolder());
}

export interface Bundle {
  readonly file: string;
  readonly fileName: string;
  readonly digest: string;
}

export interface ManifestWords {
  readonly domain?: string;
  readonly version?: string | null;
  readonly createdAt?: string;
}

/** Packs a site with one page into an archive with that name, in a new folder. */
export async function packBundle(fileName: string, page: string, manifest?: ManifestWords): Promise<Bundle> {
  const file = join(newFolder(), fileName);
  const files = [{ path: 'index.html', bytes: Buffer.from(`<!doctype html><title>${page}</title>`) }];
  const words = { domain: 'acme', version: null, createdAt: '2024-05-05T05:05:05Z', generator: 'test' };
  const { sha256 } = await packTarGz({
    files,
    to: file,
    ...(manifest === undefined ? {} : { manifest: { ...words, ...manifest, typeOf: () => 'text/html' } }),
  });
  return { file, fileName: basename(file), digest: sha256 };
}

/** Result of an import, and its parts. */
type ImportParts = Partial<Pick<SiteContext, 'unpack' | 'beforeSeal'>> & {
  readonly onProgress?: (phase: string) => void;
};

/** Imports a bundle like `bundle import`. */
export function importBundle(
  store: SiteStore,
  { file, fileName }: Pick<Bundle, 'file' | 'fileName'>,
  request: Partial<ImportRequest> = {},
  settings: Partial<DeploySettings> = {},
  { unpack = unpackHere, beforeSeal = [], onProgress = () => undefined }: ImportParts = {},
): Promise<ImportedBundle> {
  const importer = new Importer({
    store,
    settings: { ...settingsOf(store), ...settings },
    journal: new Journal((event) => {
      if (event.kind === 'progress') onProgress(event.phase);
    }),
    slots: importSlots(() => 2),
    sources: async () => [],
    tracer: NO_TRACES,
    unpack,
    beforeSeal,
  });
  const { signal } = new AbortController();
  const known = { file, fileName, version: null, source: 'import', digest: null, linkDigest: null, signal } as const;
  return importer.import({ ...known, ...request });
}

/** Delivers a bundle like `bundle import`. */
export const importOf = (
  { file, fileName }: Pick<Bundle, 'file' | 'fileName'>,
  words: { readonly version?: string; readonly activate?: boolean } = {},
) => ({ file, fileName, version: null, source: 'import', activate: true, ...words }) as const;

/** Three bundles without a manifest, with versions in their names, in a data folder that is only copied. */
export interface Seed {
  readonly dir: string;
  readonly january: Bundle;
  readonly february: Bundle;
  readonly march: Bundle;
}

export async function seedShelf(): Promise<Seed> {
  const store = await newStore();
  const pack = (date: string) => packBundle(`acme-export-${date}.tar.gz`, date);
  const [january, february, march] = [await pack('2024-01-01'), await pack('2024-02-01'), await pack('2024-03-01')];
  for (const bundle of [january, february, march]) await importBundle(store, bundle);
  return { dir: store.paths.dir, january, february, march };
}

/** Copies the seed into a new store. */
export async function copyOf(seed: Seed): Promise<SiteStore> {
  const dir = newFolder();
  await cp(seed.dir, dir, { recursive: true });
  return openStore(dir);
}

/** Opens a store like a daemon. */
async function openStore(dir: string): Promise<SiteStore> {
  const store = new SiteStore(await openDataFolder(dir));
  await store.settleDomain(null, null);
  return store;
}

/** In-memory source. A link returns bytes or an error, at once or later. */
export class FakeSource implements BundleSource {
  readonly links: RegExp = /^/;
  readonly opened: string[] = [];
  readonly #answers = new Map<string, Promise<Buffer>>();

  serve(link: string, answer: Buffer | DocshelfError | Promise<Buffer>): this {
    const promise = answer instanceof DocshelfError ? Promise.reject(answer) : Promise.resolve(answer);
    promise.catch(() => undefined);
    this.#answers.set(link, promise);
    return this;
  }

  async serveBundle(link: string, bundle: Bundle): Promise<this> {
    return this.serve(link, await readFile(bundle.file));
  }

  async open(link: Secret, { signal }: { readonly signal: AbortSignal }): Promise<OpenedBundle> {
    this.opened.push(link.reveal());
    const aborted = untilAborted(signal);
    const bytes = await Promise.race([
      this.#answers.get(link.reveal()) ?? Promise.reject(fault('bundle_not_found')),
      aborted,
    ]);
    return {
      stream: (async function* () {
        yield bytes;
      })(),
      offset: 0,
      totalBytes: bytes.length,
      endIsCertain: true,
      etag: null,
      fileName: basename(new URL(link.reveal()).pathname),
      close: () => undefined,
    };
  }
}

export function fault(code: ErrorCode, retryable = false): DocshelfError {
  return new DocshelfError(code, `a fault of the test: ${code}`, { fields: { retryable } });
}

export const LINK = 'https://bundles.test/acme-export-2024-03-01.tar.gz?signature=canary';

export type SettingsOf = Partial<Omit<DeploySettings, 'link'>> & { readonly link?: string | null };

export function settingsOf(store: SiteStore, { link = null, ...rest }: SettingsOf = {}): DeploySettings {
  return {
    enabled: true,
    link: link === null ? null : new Secret(link),
    version: null,
    sha256: null,
    minVersion: null,
    preload: { dir: join(store.paths.dir, 'bundles', store.isListed ? store.domain : ''), mayBeMissing: true },
    keep: 3,
    domain: null,
    limits: ARCHIVE_LIMITS,
    bundleBytesMax: 100_000_000,
    fetchRetriesMax: 0,
    renew: null,
    fromExports: false,
    signature: { required: false, publicKeys: [], text: null, link: null },
    ...rest,
  };
}

/** A daemon without listeners: its deployment, served releases, and messages. */
export interface TestDaemon {
  readonly store: SiteStore;
  readonly deployment: Deployment;
  readonly source: FakeSource;
  readonly events: DeployEvent[];
  /** Releases on the serving side. */
  readonly site: { active: ReleaseView | null; older: readonly KeptRelease[] };
  /** Changes the config, and waits until it has taken effect. */
  reload(settings: SettingsOf): Promise<void>;
  /** Ends it like SIGTERM. */
  stop(): Promise<void>;
}

/** State that the sites of one daemon share. */
export type SharedByTest = Partial<
  Pick<DeploymentOptions, 'registration' | 'slots' | 'unpack' | 'ownExports' | 'sources'>
> & {
  /** True to open the daemon even if the site's part of the folder cannot be opened. */
  readonly mayFail?: boolean;
};

/** Opens and registers a daemon, or with `shared` one more site of a daemon. The test calls `settle`. */
export async function openDaemon(
  store: SiteStore,
  settings: SettingsOf = {},
  source = new FakeSource(),
  openLinks: DeploymentOptions['openLinks'] = () => Promise.reject(new Error('no service is asked here')),
  shared: SharedByTest = {},
): Promise<TestDaemon> {
  const events: DeployEvent[] = [];
  const serving = new ServedRecord();
  const site: TestDaemon['site'] = {
    get active() {
      return serving.served?.release ?? null;
    },
    get older() {
      return serving.served?.retained ?? [];
    },
  };
  const own = shared.registration === undefined ? new DaemonRegistration(store.paths) : null;
  const deployment = new Deployment({
    tracer: NO_TRACES,
    store,
    registration: shared.registration ?? (own as DaemonRegistration),
    slots: shared.slots ?? importSlots(() => 2),
    settings: settingsOf(store, settings),
    sources: shared.sources ?? (async () => [source]),
    openLinks,
    ownExports: shared.ownExports ?? null,
    unpack: shared.unpack ?? unpackHere,
    beforeSeal: [],
    serving,
    onEvent: (event) => events.push(event),
  });
  const stop = () => deployment.stop().then(() => own?.withdraw());
  onFileEnd(stop);
  if (own !== null) await sweepDataFolder(store.paths);
  await deployment.open().catch((error: unknown) => {
    if (shared.mayFail !== true) throw error;
  });
  await own?.announce(null);
  return {
    store,
    deployment,
    source,
    events,
    site,
    reload: async (next) => {
      await deployment.accept(settingsOf(store, next));
      await deployment.reconcile();
    },
    stop,
  };
}

/** Starts a daemon and waits until it is idle. */
export async function startDaemon(...options: Parameters<typeof openDaemon>): Promise<TestDaemon> {
  const daemon = await openDaemon(...options);
  await daemon.deployment.reconcile();
  return daemon;
}

/** Summary of the status of a daemon. */
export const stateOf = ({ deployment }: TestDaemon) => ({
  state: deployment.state,
  version: deployment.active?.version ?? null,
  error: deployment.journal.lastError?.code ?? null,
});

/** Code of a rejected promise. */
export async function codeOf(promise: Promise<unknown>): Promise<ErrorCode | 'it resolved'> {
  return promise.then(
    () => 'it resolved' as const,
    (error: unknown) => {
      if (error instanceof DocshelfError) return error.code;
      throw error;
    },
  );
}

/** Copies bundles into a folder, and creates it if it is missing. */
export async function putInto(folder: string, ...bundles: readonly Bundle[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { file, fileName } of bundles) await cp(file, join(folder, fileName));
}

export async function stagingOf(store: SiteStore): Promise<string[]> {
  return readdir(store.paths.staging);
}

/** Waits until the assertion passes. Fake timers advance at the speed of the clock. */
export function until(assertion: () => unknown): Promise<unknown> {
  return vi.waitFor(assertion, { timeout: 20_000, interval: 10 });
}
