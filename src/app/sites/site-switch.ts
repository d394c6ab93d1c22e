import { isDeepStrictEqual } from 'node:util';
import type { Config, SiteConfig } from '../../config/index.ts';
import type { KeptRelease, ReleaseView } from '../../domain/release.ts';
import type { SiteAssets } from '../../http/site/site-assets.ts';
import { type HeaderForm, loadSiteRules, type SiteServer, SiteSnapshot, type SnapshotForm } from '../../serve/index.ts';
import { OwnSearches } from '../../serve/notices/own-search.ts';
import { allowsOwnScripts, joinAdditions, NO_ADDITIONS } from '../../web/additions/page-additions.ts';
import type { OwnSearch } from '../../web/own-search.ts';
import type { SiteRules } from '../../web/rules/index.ts';
import { policyHeaders } from '../slices.ts';
import { openSearchLink } from './described-search.ts';
import { ownSearchNotices, type SearchBoxForm, searchBoxAdditions, searchBoxForm } from './page-additions.ts';
import {
  type SwitcherFiles,
  switcherAdditions,
  switcherFilesOf,
  switcherNotice,
  type VersionSurvey,
} from './version-switcher.ts';

export function snapshotForm(site: SiteConfig): SnapshotForm {
  const { config, domain, title, basePath } = site;
  const { trailingSlash, spaFallback, headers, markdown } = config.server;
  return {
    site: domain ?? '',
    trailingSlash,
    basePath,
    title,
    spaFallback,
    markdown,
    headers: headerForm(headers, policyHeaders(config, domain ?? '', basePath)),
    additions: config.search.enabled && config.search.widget !== false ? openSearchLink(site) : NO_ADDITIONS,
    search: config.search.enabled ? { address: `${basePath}_docshelf/search`, version: null } : null,
  };
}

/** With every key of `server.headers`: a key that is left out here does not compile. */
function headerForm({ preset, set, ...unsent }: Config['server']['headers'], policy: HeaderForm['policy']): HeaderForm {
  unsent satisfies Record<string, never>;
  return { preset, set, policy };
}

/** What the config says; plain data. */
export interface SiteForm extends SnapshotForm {
  /** Null: none. */
  readonly searchBox?: SearchBoxForm | null;
  /** To be added where there are versions to choose from; null: never. */
  readonly switcher?: SwitcherFiles | null;
}

export function siteForm(site: SiteConfig, assets: SiteAssets): SiteForm {
  const areKept = site.config.staticExport.serveVersions === 'kept';
  const switcher = areKept ? switcherFilesOf(site, assets) : null;
  return { ...snapshotForm(site), searchBox: searchBoxForm(site, assets), switcher };
}

interface Served {
  readonly active: ReleaseView;
  readonly older: readonly KeptRelease[];
  readonly rules: SiteRules;
  readonly survey: SiteSurvey;
}

/** What decides on additions, as far as the form asks for it. */
interface SiteSurvey {
  readonly versions: VersionSurvey;
  readonly searches: readonly OwnSearch[];
}

const NO_VERSIONS: VersionSurvey = { hasOthers: false, own: [] };

function snapshotOf({ active, older, rules }: Served, form: SnapshotForm): SiteSnapshot {
  return new SiteSnapshot(active, older, form, rules);
}

/** With what is added by the versions that there are, and by the searches that the pages bring. */
function formOf(
  { active: { version }, survey }: Served,
  { switcher, searchBox = null, ...form }: SiteForm,
): SnapshotForm {
  const additions = [
    searchBoxAdditions(searchBox, survey.searches),
    form.additions ?? NO_ADDITIONS,
    switcher ? switcherAdditions(switcher, { version, active: version }, survey.versions) : NO_ADDITIONS,
  ];
  return { ...form, additions: joinAdditions(additions) };
}

/** For operators, of pages whose policy lets no script of their own site run; null where none is added. */
function policyNotice(version: string, { searchBox = null, switcher = null }: SiteForm): string | null {
  const added = [searchBox && 'the search box', switcher && 'the switcher of versions'].filter(Boolean);
  if (added.length === 0) return null;
  return `The Content-Security-Policy of version "${version}" lets no script of its own site run, and ${added.join(' and ')} ${added.length > 1 ? 'stay' : 'stays'} away: they need 'self' in its script-src, and no 'strict-dynamic'.`;
}

/** For operators. The usual cause is an archive with more than one top-level folder. */
const startPageNotice = (version: string): string =>
  `The start page of version "${version}" is missing: "/" responds with 404. Pack index.html at the root of the archive, or in its only top-level folder.`;

type SurveyVersions = (active: ReleaseView) => Promise<VersionSurvey>;

/** The release that becomes active becomes the snapshot that is served. */
export class SiteSwitch {
  readonly #server: SiteServer;
  readonly #surveyVersions: SurveyVersions;
  readonly #searches = new OwnSearches();
  #form: SiteForm;
  #served: Served | null = null;
  #snapshot: SiteSnapshot | null = null;

  constructor(server: SiteServer, form: SiteForm, surveyVersions: SurveyVersions = async () => NO_VERSIONS) {
    this.#server = server;
    this.#form = form;
    this.#surveyVersions = surveyVersions;
  }

  get release(): ReleaseView | null {
    return this.#served?.active ?? null;
  }

  /** As the site says them; null where nothing is served. */
  get rules(): SiteRules | null {
    return this.#served?.rules ?? null;
  }

  /** A missing start page, invalid rules, why pages have no switcher, searches that find nothing, and what the policy of the pages blocks. */
  async notices(): Promise<readonly string[]> {
    if (this.#served === null || this.#snapshot === null) return [];
    const snapshot = this.#snapshot;
    const { active, rules, survey } = this.#served;
    const { switcher, searchBox = null } = this.#form;
    const why = switcher ? switcherNotice(active.version, survey.versions) : null;
    const searches = ownSearchNotices(active.version, await this.#searches.of(active), searchBox);
    const kept = allowsOwnScripts(snapshot.contentPolicy) ? null : policyNotice(active.version, this.#form);
    const start = (await snapshot.find('')).kind === 'missing' ? startPageNotice(active.version) : null;
    const own = [start, ...rules.notices, why, kept, ...searches, ...snapshot.notices];
    return own.filter((notice) => notice !== null);
  }

  /** Builds the snapshot. The returned function only swaps a reference. */
  readonly prepare = async (active: ReleaseView, older: readonly KeptRelease[]): Promise<() => Promise<void>> => {
    const form = this.#form;
    const served = { active, older, rules: await loadSiteRules(active), survey: await this.#surveyOf(active) };
    const snapshot = snapshotOf(served, formOf(served, form));
    return async () => {
      // A reload may have come in between.
      if (form !== this.#form) return this.#serveAnew(served);
      this.#swap(served, snapshot);
    };
  };

  readonly useOthers = (older: readonly KeptRelease[]): void => {
    if (this.#served !== null) void this.#serveAnew({ ...this.#served, older });
  };

  readonly turnOff = async (): Promise<void> => {
    this.#served = null;
    this.#snapshot = null;
    this.#server.swap(null);
  };

  use(form: SiteForm): void {
    if (isDeepStrictEqual(form, this.#form)) return;
    this.#form = form;
    if (this.#served !== null) void this.#serveAnew(this.#served);
  }

  /** At once, and again where the survey is another by now. */
  async #serveAnew(served: Served): Promise<void> {
    this.#serve(served);
    const survey = await this.#surveyOf(served.active);
    const now = this.#served;
    if (now === null || now.active !== served.active || isDeepStrictEqual(survey, now.survey)) return;
    this.#serve({ ...now, survey });
  }

  #serve(served: Served): void {
    this.#swap(served, snapshotOf(served, formOf(served, this.#form)));
  }

  #swap(served: Served, snapshot: SiteSnapshot): void {
    this.#served = served;
    this.#snapshot = snapshot;
    this.#server.swap(snapshot);
  }

  /** A switcher that is missing keeps no version from being served. */
  async #surveyOf(active: ReleaseView): Promise<SiteSurvey> {
    const { switcher, searchBox } = this.#form;
    const versions = switcher ? await this.#surveyVersions(active).catch(() => NO_VERSIONS) : NO_VERSIONS;
    return { versions, searches: searchBox?.replaces ? await this.#searches.of(active) : [] };
  }
}
