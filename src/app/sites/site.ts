import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { Config, SiteConfig } from '../../config/index.ts';
import { type DeployEvent, type Deployment, Inbox, type SiteStore } from '../../deploy/index.ts';
import type { FeatureReport } from '../../domain/feature.ts';
import { OWN_FOLDER, type ReleaseView } from '../../domain/release.ts';
import { isSameData } from '../../domain/secret.ts';
import type { SiteReport } from '../../domain/status.ts';
import { printable } from '../../domain/text.ts';
import { untilAllEnded } from '../../files/lanes.ts';
import type { SiteFindings } from '../../http/admin/observed-site.ts';
import type { SearchReading, SiteMetrics } from '../../http/metrics/metrics.ts';
import { guarded, privateAnswers } from '../../http/sign-in/guarded-site.ts';
import { PageReports } from '../../http/site/page-reports.ts';
import { createSiteApp } from '../../http/site/site.ts';
import type { SiteAssets } from '../../http/site/site-assets.ts';
import { publicOrigin } from '../../http/site/site-routes.ts';
import { type AnswerSiteSearch, type ShelfScope, siteSearch } from '../../http/site/site-search.ts';
import type { Search, SearchResult, SearchStatus, SiteSearch } from '../../search/index.ts';
import { type BodyCache, type FastAnswer, SiteServer, SiteSwitch } from '../../site/index.ts';
import { once } from '../../threads/once.ts';
import type { Tracer } from '../../traces/tracer.ts';
import type { SiteRules } from '../../web/rules/index.ts';
import { ENGLISH } from '../../web/words/index.ts';
import type { Logger } from '../log/log.ts';
import { logDeployEvent, logFailure, logSearchEvent } from '../log/log-events.ts';
import type { Network } from '../network.ts';
import type { OpenedSearch } from '../open-search.ts';
import { configUntilRestart, deploySlice, enforcementOf, featureReport, reportedSite } from '../slices.ts';
import { createShelf, openShelf, type ShelfFolder } from './open-shelf.ts';
import { type OpenVersions, ReadableVersions, surveyVersions } from './readable-versions.ts';
import { explainedSearch, ReaderSearch } from './readers-search.ts';
import { type SignIns, signInKey } from './sign-ins.ts';
import { describedSearch, type ServedSettings, type SiteAccess, siteForm } from './site-form.ts';

export interface SiteHost {
  readonly network: Network;
  readonly tracer: Tracer;
  readonly search: OpenedSearch;
  readonly folder: ShelfFolder;
  readonly bodies: BodyCache;
  readonly versions: OpenVersions;
  readonly signIns: SignIns;
  readonly assets: SiteAssets;
  readonly shelfScope: (domain: string) => ShelfScope | null;
  readonly metrics: SiteMetrics;
  readonly log: Logger;
  readonly programVersion: string;
  readonly onProgress: (event: DeployEvent & { kind: 'progress' }) => void;
}

/**
 * Interval to read the inbox of a site in a list, in addition to file events. A single site uses a shorter interval, but a list
 * can have a thousand sites.
 */
const LISTED_POLL_MS = 5_000;
const SEARCH_OFF: SearchStatus = { keyword: 'off', semantic: 'off', sections: 0, embedded: 0 };

/** One site of a daemon. If `deployment` activates another version, server and search follow in the same turn of the event loop. */
export class Site {
  readonly deployment: Deployment;
  readonly search: Search | null;
  /** Config when the daemon started, to find changed settings that wait for a restart. */
  readonly opened: SiteConfig;
  readonly #host: SiteHost;
  readonly #store: SiteStore;
  readonly #inbox: Inbox;
  readonly #site: SiteSwitch<ServedSettings>;
  readonly #server: SiteServer;
  readonly #localSearch: SiteSearch | null;
  readonly #versions: ReadableVersions;
  readonly #reports: PageReports;
  readonly #startInbox = once(() => this.deployment.whenOpen.then(() => this.#inbox.start()));

  /**
   * @throws DocshelfError only for a single site, not for a site of a list: `cannot_write`, `config_invalid`,
   * `data_folder_newer`
   */
  static async open(config: SiteConfig, host: SiteHost): Promise<Site> {
    const site = new Site(config, host);
    await openShelf({ store: site.#store, deployment: site.deployment });
    return site;
  }

  private constructor(config: SiteConfig, host: SiteHost) {
    const { network, metrics, log, folder, tracer, bodies, assets, onProgress } = host;
    this.#host = host;
    this.opened = config;
    const localSearch = host.search.site(config.config.search, (event) => logSearchEvent(log, event));
    this.#localSearch = localSearch;
    this.#site = new SiteSwitch<ServedSettings>({
      settings: this.#settingsOf(config, null),
      surveyVersions: (active) => surveyVersions(this.#store, active),
      onChange: ({ version: former }, { version: next }) => {
        if (next?.release === former?.release) return;
        if (next === null) localSearch?.close();
        else localSearch?.switchTo(next.release, next.release.version);
      },
    });
    const onFault = this.#onError('serve');
    this.#server = new SiteServer(bodies, this.#site, { onCache: (isHit) => metrics.onCache(isHit), onFault });
    const { store, deployment } = createShelf(config.config, network, {
      folder,
      tracer,
      search: localSearch,
      serving: this.#site,
      onEvent: (event) => {
        if (event.kind === 'progress') onProgress(event);
        logDeployEvent(log, event);
        metrics.onDeployEvent(event);
      },
    });
    this.#store = store;
    this.deployment = deployment;
    this.#inbox = new Inbox({ paths: store.site, deployment, ...(store.isListed ? { pollMs: LISTED_POLL_MS } : {}) });
    this.#reports = new PageReports(
      (origin) => metrics.onPageReport(origin),
      () => reportedSite(this.config),
    );
    const versions = new ReadableVersions({ store, bodies, assets, open: host.versions, site: this.#site, onFault });
    this.#versions = versions;
    this.search = localSearch && new ReaderSearch({ host, active: localSearch, versions, site: this.#site, store });
  }

  get config(): SiteConfig {
    return this.#site.state.settings.config;
  }

  get metrics(): SiteMetrics {
    return this.#host.metrics;
  }

  get searchReading(): SearchReading | undefined {
    return this.#localSearch?.reading;
  }

  get domain(): string {
    return this.deployment.domain;
  }

  get hosts(): readonly string[] {
    return this.config.hosts;
  }

  get basePath(): string {
    return this.config.basePath;
  }

  /** Text that is equal for sites with the same sign-in. Null if all clients may read the site. */
  get signInKey(): string | null {
    const { access, config } = this.#site.state.settings;
    return access.signIn === null ? null : signInKey(config.config);
  }

  get release(): ReleaseView | null {
    return this.#site.state.version?.release ?? null;
  }

  get version(): string | undefined {
    return this.#site.state.version?.release.version;
  }

  get hasMcp(): boolean {
    return this.config.config.search.mcp;
  }

  fastAnswer(incoming: IncomingMessage): FastAnswer | null {
    const { url: target = '/', headers } = incoming;
    const { access, config } = this.#site.state.settings;
    const { basePath } = config;
    if (access.signIn !== null && !access.signIn.knows(incoming)) return null;
    if (!target.startsWith(basePath) || target.startsWith(OWN_FOLDER, basePath.length)) return null;
    const answer = this.#server.fastAnswer(target.slice(basePath.length - 1), headers);
    return answer && (access.privately?.(answer) ?? answer);
  }

  answer(request: Request, env: HttpBindings): Response | Promise<Response> {
    const { access } = this.#site.state.settings;
    access.app ??= this.#createApp(access);
    return access.app(request, env);
  }

  /** Reconciles the site with its settings. Resolves when no work is left, even after a failure. */
  async settle(): Promise<void> {
    void this.#startInbox();
    await this.deployment.reconcile();
  }

  /**
   * Passes new settings to the deployment.
   * @returns function that makes the site's responses use these settings
   * @throws DocshelfError `config_invalid`
   */
  async accept(config: SiteConfig): Promise<() => void> {
    await this.deployment.accept(deploySlice(config.config));
    return () => this.#site.applySettings(this.#settingsOf(config, this.#site.state.settings));
  }

  features(): FeatureReport {
    return featureReport(this.#site.state.settings.held.config, this.domain);
  }

  async report(): Promise<SiteReport> {
    const { deployment } = this;
    const [{ versions, notices }, own] = await Promise.all([deployment.readStored(), this.#site.notices()]);
    // Read the state and the last error in the same turn, so that a failed reload is never visible without its error.
    const { state, active, pinned, domain, journal } = deployment;
    const { lastError, activity } = journal;
    return {
      state,
      deployment: { type: this.config.config.deployment.type, domain },
      active,
      pinned,
      versions,
      lastError,
      search: this.#localSearch?.status ?? SEARCH_OFF,
      notices: [...notices, ...own, ...this.#reports.notices, ...(this.#localSearch?.notices ?? [])].map(inOneLine),
      activity,
    };
  }

  findings(): SiteFindings {
    const { settings, version } = this.#site.state;
    return siteFindings(settings.held.config, version?.rules ?? null, this.#reports);
  }

  explain(query: string): Promise<readonly SearchResult[]> {
    return explainedSearch(this.#localSearch, query);
  }

  /** Reason why the site serves no version, as one sentence for operators, without secrets. Null if no reason is known. */
  reasonNotReady(): string | null {
    if (this.deployment.state === 'off') return null;
    const { lastError, activity } = this.deployment.journal;
    return activity === null ? (lastError?.message ?? null) : `docshelf is ${activity}.`;
  }

  async stop(): Promise<void> {
    await untilAllEnded([this.deployment.stop(), this.#inbox.stop()]);
  }

  close(): void {
    this.#localSearch?.close();
  }

  #settingsOf(config: SiteConfig, former: ServedSettings | null): ServedSettings {
    const held = former === null ? config : configUntilRestart(config, this.search !== null);
    const keepsPlace = former !== null && isSameData(placeOf(config), placeOf(former.config));
    const access = keepsPlace ? former.access : this.#accessOf(config);
    return { config, held, form: siteForm(held, this.#host.assets), access };
  }

  #accessOf(site: SiteConfig): SiteAccess {
    const { config, domain, hosts, basePath } = site;
    const { signIns, metrics } = this.#host;
    const onWrong = (): void => metrics.onWrongSignIn();
    const onRefused = (error: unknown): void => this.#onError('sign-in')(error, null);
    const signIn = signIns.open({ config, site: domain ?? '', hosts, basePath }, { onWrong, onRefused });
    return { site, signIn, privately: signIn && privateAnswers(signIn), app: null };
  }

  #createApp({ site, signIn }: SiteAccess): NonNullable<SiteAccess['app']> {
    const { config, domain, basePath } = site;
    const { deployment, search } = this;
    const { assets, metrics } = this.#host;
    const server = this.#server;
    const reports = this.#reports;
    const versions = this.#versions;
    const page = { assets, language: async () => server.current?.languages.at('') ?? null };
    // Load the MCP modules with the first request, because loading takes 0.2 s of processor time.
    const openedMcp = once(() => this.#openMcp(site));
    const mcp: AnswerSiteSearch = async (request, env) => (await openedMcp())(request, env);
    const app = createSiteApp({
      server,
      basePath,
      state: () => deployment.state,
      hasFailed: () => deployment.journal.lastError !== null && deployment.journal.activity === null,
      features: () => this.features(),
      search:
        search === null
          ? undefined
          : siteSearch({
              search,
              shelf: this.#host.shelfScope(domain ?? ''),
              page,
              trustedProxies: config.server.trustedProxies,
              metrics,
              onError: this.#onError('search'),
            }),
      describedSearch: async () =>
        search === null ? null : describedSearch(this.config, (await page.language()) ?? ENGLISH),
      reports,
      assets,
      versions,
      mcp: () => (this.hasMcp ? mcp : null),
      refreshFromDisk: () => deployment.refreshFromDisk(),
      onError: this.#onError('site'),
    });
    if (signIn === null) return app.fetch;
    return guarded({ signIn, basePath, reports, assets, onFault: this.#onError('sign-in') }, app.fetch);
  }

  async #openMcp({ config: { server }, hosts, basePath }: SiteConfig): Promise<AnswerSiteSearch> {
    const [{ mcpEndpoint }, { siteDocumentation }] = await Promise.all([
      import('../../http/mcp/mcp-endpoint.ts'),
      import('../assistants/site-documentation.ts'),
    ]);
    const { bodies, metrics, programVersion } = this.#host;
    const { publicUrl, trustedProxies } = server;
    const site = { basePath, origin: publicOrigin(publicUrl, hosts), search: this.search, versions: this.#versions };
    return mcpEndpoint({
      site: siteDocumentation(() => ({ ...site, domain: this.domain }), bodies),
      place: { publicUrl, hosts },
      trustedProxies,
      programVersion,
      metrics,
      onError: this.#onError('mcp'),
    });
  }

  #onError(step: string) {
    return (error: unknown, requestId: string | null): void => logFailure(this.#host.log, step, error, requestId);
  }
}

/** Settings on which the sign-in and the request handlers of a site depend. */
const placeOf = ({ config: { server }, hosts, basePath }: SiteConfig) => [
  server.auth,
  server.publicUrl,
  hosts,
  basePath,
];

export function siteFindings(config: Config, rules: SiteRules | null, reports: PageReports): SiteFindings {
  return {
    policy: enforcementOf(config),
    origins: reports.counts,
    ruleFaults: rules?.faults ?? [],
    ruleFaultCount: rules?.faultCount ?? 0,
    notices: [...(rules?.notices ?? []), ...reports.notices].map(inOneLine),
  };
}

/** Escapes a notice, because it can quote rules, paths and titles of a bundle, or responses of servers. */
const inOneLine = (notice: string): string => printable(notice);
