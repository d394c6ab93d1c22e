import { DocshelfError, type ErrorCode } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { isTransient } from '../../net/retry.ts';
import type { ImportedBundle, Importer } from '../import/importer.ts';
import { isCurrent, newerThan } from '../import/label.ts';
import type { Progress } from '../plan.ts';
import type { FreshLink, LinkSource } from '../ports.ts';
import { linkDigestOf, type RenewSettings, serviceOf } from '../settings.ts';
import type { SiteContext } from '../site-context.ts';

const DEAD_LINK: ReadonlySet<ErrorCode> = new Set(['link_expired', 'link_refused', 'bundle_not_found']);

/**
 * Maximum time to wait for the job id of a started export after an abort. Without the job id, docshelf would later start a second
 * job.
 */
const START_MS_AFTER_END = 3_000;

/**
 * Maximum random delay of an export, as a share of the export interval, so that daemons that started together spread their
 * requests.
 */
const EXPORT_JITTER = 0.1;
const EXPORT_RETRY_MS = 600_000;

export interface FetchTask {
  readonly key: string;
  readonly version: string | null;
  readonly of: string | null;
}

interface FetchEnd {
  /** Called synchronously when `Fetcher.current` becomes null, so that the site loop cannot start the same fetch in between. */
  readonly onFetched: (bundle: ImportedBundle, task: FetchTask, signal: AbortSignal) => Promise<void>;
  readonly onFailed: (error: unknown, task: FetchTask) => void;
  readonly wake: () => void;
}

/**
 * Fetches the bundles of a site. Starts an export at each interval of `renew.every`, and if no bundle is found for the pinned
 * version or for a site without a release.
 */
export class Fetcher {
  done: Promise<void> = Promise.resolve();
  readonly #context: SiteContext;
  readonly #importer: Importer;
  readonly #end: FetchEnd;
  #running: { readonly task: FetchTask; readonly abort: AbortController } | null = null;
  /** Started export job whose bundle docshelf has not fetched yet. The next attempt waits for this job instead of starting another. */
  #started: { readonly for: string; readonly jobId: string } | null = null;
  #exports: { readonly everyMs: number; readonly atMs: number | null } | null = null;

  constructor(context: SiteContext, importer: Importer, end: FetchEnd) {
    this.#context = context;
    this.#importer = importer;
    this.#end = end;
  }

  get current(): Progress['fetching'] {
    if (this.#running === null) return null;
    const { task, abort } = this.#running;
    return { key: task.key, isExport: task.of === null, isAborted: abort.signal.aborted };
  }

  get exportAtMs(): number | null {
    return this.#exports?.atMs ?? null;
  }

  exportEvery(everyMs: number | null): void {
    if (everyMs === null) this.#exports = null;
    else if (everyMs !== this.#exports?.everyMs) this.#exports = { everyMs, atMs: exportTimeAfter(everyMs) };
  }

  start(task: FetchTask): void {
    const abort = new AbortController();
    this.#running = { task, abort };
    if (task.of === null && this.#exports !== null) this.#exports = { ...this.#exports, atMs: null };
    this.done = this.#run(task, AbortSignal.any([abort.signal, this.#context.stopping]));
  }

  abort(): void {
    this.#running?.abort.abort(
      new DocshelfError('stopping', 'Cannot finish the fetch: the config was reloaded with other settings'),
    );
  }

  async #run(task: FetchTask, signal: AbortSignal): Promise<void> {
    const { tracer, store } = this.#context;
    const { version } = task;
    const isExport = task.of === null;
    const facts = { 'docshelf.domain': store.domain, 'docshelf.pinned': version };
    try {
      await tracer.span(isExport ? 'renew' : 'deploy', { parent: null, facts }, async () => {
        const bundle = await (isExport ? this.#exportAnew(signal) : this.#fetch(version, signal));
        this.#running = null;
        await this.#end.onFetched(bundle, task, signal);
      });
      if (isExport) this.#scheduleExport(false);
    } catch (error) {
      this.#running = null;
      if (isExport) this.#scheduleExport(!signal.aborted && isTransient(error));
      if (!signal.aborted) this.#end.onFailed(error, task);
      this.#end.wake();
    }
  }

  #scheduleExport(isRetry: boolean): void {
    if (this.#exports?.atMs !== null) return;
    const { everyMs } = this.#exports;
    this.#exports = { everyMs, atMs: exportTimeAfter(isRetry ? Math.min(everyMs, EXPORT_RETRY_MS) : everyMs) };
    this.#end.wake();
  }

  async #fetch(version: string | null, signal: AbortSignal): Promise<ImportedBundle> {
    const { link, fromExports, renew } = this.#context.settings;
    if (fromExports) return this.#fetchOwn(version, signal);
    if (renew === null) return this.#fetchLink(link, version, signal);
    const isRepeated = renew.everyMs !== null;
    let dead: unknown = null;
    const fetchUnlessDead = async (): Promise<ImportedBundle | null> => {
      if (link === null) return null;
      return this.#fetchLink(link, version, signal).catch((error: unknown) => {
        if (!isDead(error)) throw error;
        dead = error;
        return null;
      });
    };
    // If `renew.every` is set, ask the export service for a link first, because the configured link can be for an older export.
    const first = isRepeated ? null : await fetchUnlessDead();
    if (first !== null) return first;
    const links = await this.#context.openLinks(renew);
    const fresh = await this.#context.journal.during('requesting a new link', () => links.freshLink(version, signal));
    if (fresh !== null) return this.#fetchFresh(fresh, version, signal);
    const isBare = version !== null || (await this.#context.store.active()) === null;
    const last = isRepeated && isBare ? await fetchUnlessDead() : null;
    if (last !== null) return last;
    if (!isRepeated && !isBare) throw dead ?? nothingExported();
    return this.#export(links, renew, version, signal);
  }

  async #fetchOwn(version: string | null, signal: AbortSignal): Promise<ImportedBundle> {
    const { ownExports, store } = this.#context;
    const fresh = (await ownExports?.freshLink(version, signal)) ?? null;
    if (fresh === null) throw noOwnExport(store.domain, version);
    return this.#fetchFresh(fresh, version, signal);
  }

  async #exportAnew(signal: AbortSignal): Promise<ImportedBundle> {
    const { renew } = this.#context.settings;
    if (renew === null) throw nothingExported();
    return this.#export(await this.#context.openLinks(renew), renew, null, signal);
  }

  async #export(links: LinkSource, renew: RenewSettings, version: string | null, signal: AbortSignal) {
    const purpose = JSON.stringify([serviceOf(renew), version]);
    if (this.#started?.for !== purpose) {
      signal.throwIfAborted();
      const jobId = await this.#context.journal.during('starting an export', () =>
        links.startExport(version, outliving(signal)),
      );
      this.#started = { for: purpose, jobId };
      this.#context.journal.event({ kind: 'export-started', jobId });
    }
    const { jobId } = this.#started;
    try {
      const fresh = await this.#context.journal.during(`waiting for the export ${jobId}`, () =>
        links.linkWhenDone(jobId, signal),
      );
      const bundle = await this.#fetchFresh(fresh, version, signal);
      this.#started = null;
      return bundle;
    } catch (error) {
      const goesOn = signal.aborted || (error instanceof DocshelfError && error.fields.retryable === true);
      if (!goesOn) this.#started = null;
      throw error;
    }
  }

  async #fetchFresh(fresh: FreshLink, version: string | null, signal: AbortSignal): Promise<ImportedBundle> {
    const { link, fromExports, sha256 } = this.#context.settings;
    if (!fromExports) this.#context.journal.event({ kind: 'link-renewed', jobId: fresh.jobId });
    if (sha256 !== null && fresh.sha256 !== null && fresh.sha256 !== sha256) throw otherDigest(fresh, sha256);
    const stored = version === null && fresh.sha256 !== null ? await this.#stored(fresh.sha256) : null;
    if (stored !== null && (fromExports || (await this.#isTrusted(stored)))) return stored;
    if (fresh.traceparent != null) this.#context.tracer.follow(fresh.traceparent);
    // Record the configured link instead of the service's temporary link, because the status compares the recorded link with
    // the configured one.
    const linkDigest = link === null ? null : linkDigestOf(link);
    const { signature } = fresh;
    const download = { link: fresh.link, sha256: sha256 ?? fresh.sha256, linkDigest, signature };
    return this.#importer.fetch(download, version, signal);
  }

  async #fetchLink(link: Secret | null, version: string | null, signal: AbortSignal): Promise<ImportedBundle> {
    if (link === null) throw new DocshelfError('no_bundle', 'Cannot fetch a bundle: no staticExport.bundleUrl is set');
    const { sha256 } = this.#context.settings;
    return this.#importer.fetch({ link, sha256, linkDigest: linkDigestOf(link) }, version, signal);
  }

  /**
   * True if a stored bundle can be served without new checks: it is active, was fetched last, or no rule (signature,
   * `minVersion`, age) applies.
   */
  async #isTrusted({ digest, createdAt }: ImportedBundle): Promise<boolean> {
    const { store } = this.#context;
    if (await isCurrent(store, digest)) return true;
    const { signature, minVersion } = this.#context.settings;
    return signature.publicKeys.length === 0 && minVersion === null && (await newerThan(store, createdAt)) === null;
  }

  /** Returns the stored release with this digest, or null. An export of an unchanged site has the digest of an earlier export. */
  async #stored(digest: string): Promise<ImportedBundle | null> {
    const { store } = this.#context;
    const [version, pointer] = [...(await store.labels())].find(([, each]) => each.digest === digest) ?? [];
    const info = version === undefined ? null : await store.readable(digest);
    if (version === undefined || info === null) return null;
    return { digest, version, createdAt: pointer?.createdAt ?? info.createdAt, unpacked: false };
  }
}

function outliving(signal: AbortSignal): AbortSignal {
  const abort = new AbortController();
  const end = (): unknown => setTimeout(() => abort.abort(signal.reason), START_MS_AFTER_END).unref();
  signal.addEventListener('abort', end, { once: true });
  return abort.signal;
}

const isDead = (error: unknown): boolean => error instanceof DocshelfError && DEAD_LINK.has(error.code);

function nothingExported(): DocshelfError {
  return new DocshelfError(
    'no_bundle',
    'Cannot renew the bundle: the export service has no completed export of the site',
    {
      next: 'Start an export with "docshelf export start", or set staticExport.renew.every.',
      fields: { retryable: false },
    },
  );
}

function noOwnExport(domain: string, version: string | null): DocshelfError {
  const wanted = version === null ? `"${domain}"` : `version "${version}" of "${domain}"`;
  return new DocshelfError('no_bundle', `Cannot serve ${wanted}: this daemon has no completed export of it`, {
    next: `Start an export with "docshelf export start --domain ${domain}${version === null ? '' : ` --version ${version}`}". When the export is completed, docshelf serves its bundle.`,
    fields: { retryable: false },
  });
}

function otherDigest({ jobId, sha256: found }: FreshLink, expected: string): DocshelfError {
  const message = `Cannot use the bundle of job "${jobId}": its SHA-256 is ${found}, expected ${expected}`;
  return new DocshelfError('wrong_digest', message, {
    next: 'Set staticExport.sha256 to the digest of this bundle, or remove staticExport.sha256.',
    fields: { expected, found, retryable: false },
  });
}

const exportTimeAfter = (ms: number): number => Date.now() + Math.round(ms * (1 + EXPORT_JITTER * Math.random()));
