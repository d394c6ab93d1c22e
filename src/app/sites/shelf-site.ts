import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { SiteConfig } from '../../config/index.ts';
import { type Deployment, Inbox } from '../../deploy/index.ts';
import { type DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import type { FeatureReport } from '../../domain/feature.ts';
import type { ReleaseView } from '../../domain/release.ts';
import type { SiteReport } from '../../domain/status.ts';
import type { SiteFindings } from '../../http/admin/observed-site.ts';
import { pathOf } from '../../http/listener/served-request.ts';
import type { SiteMetrics } from '../../http/metrics/site-metrics.ts';
import { guarded, PrivateAnswers } from '../../http/sign-in/guarded-site.ts';
import type { SignIn } from '../../http/sign-in/sign-in.ts';
import { PageReports } from '../../http/site/page-reports.ts';
import { createSiteApp, plainBelow } from '../../http/site/site.ts';
import type { Search, SearchResult, SiteSearch } from '../../search/index.ts';
import { type PlainAnswer, SiteServer } from '../../serve/index.ts';
import { isPagePart } from '../../web/media-type.ts';
import { ENGLISH } from '../../web/words/index.ts';
import { mcpAnswer } from '../assistants/mcp-answer.ts';
import { logDeployEvent, logFailure, logSearchEvent } from '../log/log-events.ts';
import { deploySlice, featureReport, heldConfig, reportedSite } from '../slices.ts';
import { describedSearch } from './described-search.ts';
import { openShelf } from './open-shelf.ts';
import { ReadableVersions, type ReadableVersionsOptions } from './readable-versions.ts';
import { explainedSearch, indexedRelease, ReaderSearch, searchAnswer } from './readers-search.ts';
import { placeKey, signInKey } from './sign-ins.ts';
import type { SiteHost } from './site-host.ts';
import { siteFindings, siteReport } from './site-report.ts';
import { SiteSwitch, siteForm } from './site-switch.ts';
import { surveyVersions } from './version-switcher.ts';

/** Looks into the inbox of a site of a list, beside its watch: there may be a thousand. */
const LISTED_POLL_MS = 5_000;

interface Parts {
  readonly deployment: Deployment;
  readonly inbox: Inbox;
  readonly server: SiteServer;
  readonly site: SiteSwitch;
  readonly localSearch: SiteSearch | null;
  readonly versions: Omit<ReadableVersionsOptions, 'config'>;
}

/** One site of a daemon. Deploy swaps; serve and search follow in the same tick. */
export class ShelfSite {
  readonly deployment: Deployment;
  /** For readers; null where search is off. */
  readonly search: Search | null;
  readonly #parts: Parts;
  readonly #reports: PageReports;
  readonly #versions: ReadableVersions;
  readonly #host: SiteHost;
  /** Made for one base path and one sign-in. */
  #fetch: ((request: Request, env: HttpBindings) => Response | Promise<Response>) | null = null;
  /** Null where everybody may read. */
  #signIn: SignIn | null;
  /** As it was opened with; what differs from it waits for a restart. */
  readonly opened: SiteConfig;
  #private: PrivateAnswers | null = null;
  #config: SiteConfig;
  #held: SiteConfig;

  /** @throws DocshelfError of the single form's: `cannot_write`, `config_invalid`, `data_folder_newer`. */
  static async open(config: SiteConfig, host: SiteHost): Promise<ShelfSite> {
    const { network, metrics, log, onProgress } = host;
    const server = new SiteServer(host.bodies, {
      onCache: (isHit) => metrics.onCache(isHit ? 1 : 0, isHit ? 0 : 1),
      onFault: (error, requestId) => logFailure(log, 'serve', error, requestId),
    });
    const site = new SiteSwitch(server, siteForm(config, host.assets), (active) => surveyVersions(store, active));
    const localSearch = host.search.site(config.config.search, (event) => logSearchEvent(log, event));
    const { deployment, store } = await openShelf(config.config, network, {
      folder: host.folder,
      tracer: host.tracer,
      search: localSearch,
      prepareSwap: async (active, older) => {
        const commit = await site.prepare(active, older);
        return () => {
          const done = commit();
          localSearch?.follow(indexedRelease(active), active.version);
          return done;
        };
      },
      onOthers: site.useOthers,
      onOff: () => {
        localSearch?.forget();
        return site.turnOff();
      },
      onEvent: (event) => {
        if (event.kind === 'progress') onProgress(event);
        logDeployEvent(log, event);
        metrics.onDeployEvent(event);
      },
    });
    const inbox = new Inbox({ paths: store.site, deployment, ...(store.isListed ? { pollMs: LISTED_POLL_MS } : {}) });
    const versions = {
      store,
      ...{ bodies: host.bodies, assets: host.assets, open: host.versions },
      current: () => server.current,
      onFault: (error: DocshelfError, requestId: string | null) => logFailure(log, 'serve', error, requestId),
    };
    return new ShelfSite(config, host, { deployment, inbox, server, site, localSearch, versions });
  }

  private constructor(config: SiteConfig, host: SiteHost, parts: Parts) {
    const { deployment, localSearch, versions } = parts;
    this.#versions = new ReadableVersions({ ...versions, config: () => this.#held });
    this.deployment = deployment;
    this.opened = config;
    this.#config = config;
    this.#held = config;
    this.#host = host;
    this.#parts = parts;
    this.#reports = new PageReports(
      (origin) => host.metrics.onPageReport(origin),
      () => reportedSite(this.#config),
    );
    this.#signIn = this.#openSignIn(config);
    this.search =
      localSearch &&
      new ReaderSearch({
        host,
        active: localSearch,
        versions: this.#versions,
        config: () => this.#config,
        domain: () => this.domain,
      });
  }

  get config(): SiteConfig {
    return this.#config;
  }

  get metrics(): SiteMetrics {
    return this.#host.metrics;
  }

  get domain(): string {
    return this.deployment.domain;
  }

  /** Null where everybody may read; else the same text for sites with the same sign-in. */
  get signInKey(): string | null {
    return this.#signIn === null ? null : signInKey(this.#config.config);
  }

  /** What readers get; null where nothing is served. */
  get release(): ReleaseView | null {
    return this.#parts.site.release;
  }

  /** That readers get. */
  get version(): string | undefined {
    return this.#parts.server.current?.version;
  }

  /** Assistants are answered. */
  get hasMcp(): boolean {
    return this.#config.config.search.mcp;
  }

  /** Null for what `answer` is for. */
  plain(incoming: IncomingMessage): PlainAnswer | null {
    if (this.#signIn !== null && !this.#signIn.knows(incoming)) return null;
    this.#host.search.noteRead();
    const answer = plainBelow(this.#parts.server, this.#config.basePath, incoming);
    // What the site does not have may be the door for assistants, or of a version that another replica serves.
    if (answer?.status === 404 && (this.hasMcp || isPagePart(pathOf(incoming.url ?? '/')))) return null;
    return answer && (this.#private?.of(answer) ?? answer);
  }

  answer(request: Request, env: HttpBindings): Response | Promise<Response> {
    this.#fetch ??= this.#open();
    return this.#fetch(request, env);
  }

  /** Begins its work, or carries out new settings. Resolves when the round is over, well or not. */
  async settle(): Promise<void> {
    void this.deployment.whenOpen.then(() => this.#parts.inbox.start());
    await this.deployment.settle();
  }

  /**
   * Takes new settings; `settle` carries them out. @throws DocshelfError `config_invalid`
   * @returns the act that answers by them, in one tick with the routes: in between no request would find the site
   */
  async accept(config: SiteConfig): Promise<() => void> {
    await this.deployment.accept(deploySlice(config.config));
    return () => {
      this.#held = heldConfig(config, this.search !== null);
      this.#parts.site.use(siteForm(this.#held, this.#host.assets));
      if (placeKey(config) !== placeKey(this.#config)) {
        this.#signIn = this.#openSignIn(config);
        this.#fetch = null;
      }
      this.#config = config;
    };
  }

  features(): FeatureReport {
    return featureReport(this.#held.config, this.domain);
  }

  report(): Promise<SiteReport> {
    const { server, ...parts } = this.#parts;
    return siteReport({ ...parts, config: this.#config.config, reports: this.#reports });
  }

  findings(): SiteFindings {
    return siteFindings({ site: this.#parts.site, config: this.#held.config, reports: this.#reports });
  }

  /** For operators. */
  explain(query: string): Promise<readonly SearchResult[]> {
    return explainedSearch(this.#parts.localSearch, query);
  }

  /** For operators: one sentence, free of secrets. */
  whyNotReady(): string | null {
    if (this.deployment.state === 'off') return null;
    const { lastError, activity } = this.deployment;
    return activity === null ? (lastError?.message ?? null) : `docshelf is ${activity}.`;
  }

  /** Work on bundles is given up at once. */
  async stop(): Promise<void> {
    await Promise.all([this.deployment.stop(), this.#parts.inbox.stop()]);
  }

  /** For a site that leaves the daemon. */
  close(): void {
    this.#parts.localSearch?.forget();
    this.#host.metrics.forget();
  }

  #openSignIn({ config, domain, hosts, basePath }: SiteConfig): SignIn | null {
    const { signIns, metrics } = this.#host;
    const onWrong = (): void => metrics.onWrongSignIn();
    const onRefused = (error: unknown): void => this.#onError('sign-in')(error, null);
    const signIn = signIns.open({ config, site: domain ?? '', hosts, basePath }, { onWrong, onRefused });
    this.#private = signIn && new PrivateAnswers(signIn);
    return signIn;
  }

  #open(): (request: Request, env: HttpBindings) => Response | Promise<Response> {
    const { deployment, server } = this.#parts;
    const { basePath } = this.#config;
    const signIn = this.#signIn;
    const { search } = this;
    const { assets, bodies, metrics, programVersion } = this.#host;
    const shelf = this.#host.shelfScope(this.#config.domain ?? '');
    const page = { assets, language: async () => server.current?.languages.at('') ?? null };
    const { trustedProxies } = this.#config.config.server;
    const shared = { versions: this.#versions, bodies, programVersion, metrics };
    const mcp = mcpAnswer({ site: this, ...shared, onError: this.#onError('mcp') });
    const app = createSiteApp({
      server,
      basePath,
      state: () => deployment.state,
      hasFailed: () => deployment.lastError !== null && deployment.activity === null,
      features: () => this.features(),
      ...(search === null
        ? {}
        : {
            search: searchAnswer({ search, shelf, page, trustedProxies, metrics, onError: this.#onError('search') }),
            describedSearch: async () => describedSearch(this.#config, (await page.language()) ?? ENGLISH),
          }),
      ...{ reports: this.#reports, assets },
      versions: this.#versions,
      mcp: () => (this.hasMcp ? mcp : null),
      lookAgain: () => deployment.lookAgain(),
      onError: this.#onError('site'),
    });
    if (signIn === null) return app.fetch;
    return guarded({ signIn, basePath, reports: this.#reports, assets, onFault: this.#onError('sign-in') }, app.fetch);
  }

  #onError(step: string) {
    return (error: unknown, requestId: string | null): void =>
      logFailure(this.#host.log, step, toDocshelfError(error), requestId);
  }
}
