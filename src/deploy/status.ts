import { stat } from 'node:fs/promises';
import { type DocshelfError, isFetchFault, toDocshelfError } from '../domain/errors.ts';
import type { BundleSourceKind } from '../domain/release.ts';
import type { ActiveVersion, LastError, StatusReport } from '../domain/status.ts';
import { ifThere } from '../files/index.ts';
import type { SiteStore } from './releases/site-store.ts';
import { storedVersions } from './releases/stored-versions.ts';
import { type DeploySettings, linkDigestOf } from './settings.ts';

export type StoredState = Pick<StatusReport, 'versions' | 'notices'>;

export type DeployEvent =
  | { readonly kind: 'fetch-started'; readonly link: string }
  | {
      readonly kind: 'fetched';
      readonly link: string;
      readonly digest: string;
      readonly bytes: number;
      readonly seconds: number;
    }
  | { readonly kind: 'verified'; readonly name: string; readonly keyId: string; readonly trustedComment: string }
  | {
      readonly kind: 'taken-in';
      readonly version: string;
      readonly digest: string;
      readonly source: BundleSourceKind;
      readonly unpacked: boolean;
      readonly seconds: number;
    }
  | { readonly kind: 'activated'; readonly version: string; readonly digest: string; readonly previous: string | null }
  | { readonly kind: 'turned-off' }
  | { readonly kind: 'export-started'; readonly jobId: string }
  | { readonly kind: 'link-renewed'; readonly jobId: string }
  | { readonly kind: 'pruned'; readonly digests: readonly string[] }
  | { readonly kind: 'removed'; readonly version: string }
  | { readonly kind: 'failed'; readonly step: string; readonly error: DocshelfError }
  | {
      readonly kind: 'progress';
      readonly name: string;
      readonly phase: string;
      readonly doneBytes: number;
      readonly totalBytes: number | null;
    };

/** Age after which a folder's time stamp is reliable. A younger folder can change again with the same time stamp. */
const STAMP_MS_MIN = 1_000;

/** Reads the disk only if the settings, the active version or the folder changed, because a status can cover a thousand sites. */
export class StoredReport {
  readonly #store: SiteStore;
  #known: { readonly of: readonly unknown[]; readonly stored: StoredState } | null = null;

  constructor(store: SiteStore) {
    this.#store = store;
  }

  /** Reads versions and notices of a site. Never rejects, so that an unreadable folder does not hide the status of other sites. */
  async read(settings: DeploySettings, active: ActiveVersion | null): Promise<StoredState> {
    const store = this.#store;
    try {
      const info = await ifThere(stat(store.site.versions));
      const of = [settings, active?.digest, active?.version, store.domain, info?.ino, info?.mtimeMs];
      const known = this.#known;
      if (known?.of.every((each, at) => each === of[at]) === true) return known.stored;
      const versions = await storedVersions(store);
      const stored = { versions, notices: active === null ? [] : await noticesOf(store, settings, active, versions) };
      const isOld = info === null || Date.now() - info.mtimeMs > STAMP_MS_MIN;
      this.#known = isOld ? { of, stored } : null;
      return stored;
    } catch (error) {
      const state = toDocshelfError(error).message;
      return { versions: [], notices: [`Cannot read the stored versions of ${store.domain}: ${state}`] };
    }
  }
}

async function noticesOf(
  store: SiteStore,
  { enabled, version: pin, sha256, link }: DeploySettings,
  active: ActiveVersion,
  versions: StoredState['versions'],
): Promise<string[]> {
  const notices = [...((await store.readable(active.digest))?.notes ?? [])];
  if (!enabled || pin === null) return notices;
  const pointer = link !== null && active.version === pin ? await store.label(pin) : null;
  if (link !== null && pointer !== null && pointer.linkDigest !== linkDigestOf(link)) {
    notices.push(
      `docshelf did not fetch the configured bundleUrl, because version ${pin} is already stored. To replace its bundle, set staticExport.sha256 to the digest of the new bundle.`,
    );
  }
  // If the config pins a digest, any stored release with this digest is enough, because docshelf then adds the pinned version label.
  if (!versions.some(({ version, digest }) => (sha256 === null ? version === pin : digest === sha256))) {
    notices.push(
      `The config pins version ${pin}, which is not stored. docshelf still serves version ${active.version}, but would serve no version after a restart. Import version ${pin}, or pin a stored version.`,
    );
  }
  return notices;
}

export class Journal {
  readonly event: (event: DeployEvent) => void;
  activity: string | null = null;
  /**
   * Last error of each kind, the newest last. The error of a rejected config (`reload`) stays until a config is accepted, even
   * if later work succeeds. The kind `deploy` includes the errors of fetches.
   */
  readonly #errors = new Map<'reload' | 'deploy' | 'work', LastError>();

  constructor(onEvent: (event: DeployEvent) => void) {
    this.event = onEvent;
  }

  get lastError(): LastError | null {
    return [...this.#errors.values()].at(-1) ?? null;
  }

  /** True if the last fetch failed, even if a newer error, for example of the inbox, is the last error. */
  get isFetchFailing(): boolean {
    const code = this.#errors.get('deploy')?.code;
    return code !== undefined && isFetchFault(code);
  }

  /** Shows `activity` in the status while `act` runs. `act` may replace the shown activity. */
  async during<T>(activity: string, act: () => Promise<T>): Promise<T> {
    this.activity = activity;
    try {
      return await act();
    } finally {
      this.activity = null;
    }
  }

  failed(step: string, cause: unknown): void {
    const error = toDocshelfError(cause);
    const kind = step === 'reload' ? step : ['deploy', 'renew'].includes(step) ? 'deploy' : 'work';
    this.#errors.delete(kind);
    this.#errors.set(kind, {
      at: new Date().toISOString(),
      code: error.code,
      message: error.message,
      next: error.next ?? null,
    });
    this.event({ kind: 'failed', step, error });
  }

  recovered(): void {
    this.#errors.delete('deploy');
    this.#errors.delete('work');
  }

  reloaded(): void {
    this.#errors.delete('reload');
  }
}
