import { isDeepStrictEqual } from 'node:util';
import { type KeptRelease, type ReleaseView, versionRoot } from '../domain/release.ts';
import { allowsOwnScripts, joinAdditions } from '../web/additions/page-additions.ts';
import type { BundledSearch } from '../web/own-search.ts';
import { NOTICES_MAX, type SiteRules, Work } from '../web/rules/index.ts';
import {
  type OwnSearches,
  ownSearches,
  ownSearchNotices,
  type SearchBoxForm,
  type SwitcherFiles,
  searchBoxAdditions,
  switcherAdditions,
  switcherNotice,
  type VersionSurvey,
  versionNotice,
} from './additions.ts';
import { SiteLanguages } from './first-pages.ts';
import { loadSiteRules, SiteSnapshot, type SnapshotOptions } from './snapshot.ts';
import type { SamePages } from './versions/same-page.ts';

export interface SiteForm extends SnapshotOptions {
  readonly searchBox?: SearchBoxForm | null;
  /** Files of the version switcher. If null, pages have no version switcher. */
  readonly switcher?: SwitcherFiles | null;
}

interface VersionParts {
  readonly release: ReleaseView;
  readonly retained: readonly KeptRelease[];
  readonly rules: SiteRules;
  /**
   * Versions and searches in the bundle, on which the version switcher and the search box depend. Empty for a feature that
   * docshelf does not add.
   */
  readonly survey: { readonly versions: VersionSurvey; readonly searches: readonly BundledSearch[] };
}

interface ServedVersion extends VersionParts {
  readonly snapshot: SiteSnapshot;
}

interface LiveVersion extends ServedVersion {
  readonly activatedAt: string;
}

/** Served state of a site. Each change replaces the whole state, so other objects must not keep a reference to a state. */
export interface SiteState<Settings> {
  readonly settings: Settings;
  readonly version: LiveVersion | null;
}

export interface Beside {
  readonly active: ReleaseView | null;
  /** Finds the page of the active version, to which a notice on the same page of another version links. Null omits the notice. */
  readonly pages: SamePages | null;
}

type SurveyVersions = (release: ReleaseView) => Promise<VersionSurvey>;

const NO_VERSIONS: VersionSurvey = { hasOthers: false, own: [] };
const surveyNone: SurveyVersions = async () => NO_VERSIONS;

export async function readVersion(
  release: ReleaseView,
  retained: readonly KeptRelease[],
  form: SiteForm,
  surveyVersions = surveyNone,
  searches = ownSearches(),
): Promise<VersionParts> {
  const survey = await surveyOf(release, form, surveyVersions, searches);
  return { release, retained, rules: await loadSiteRules(release), survey };
}

/** Lists the versions and searches in a bundle. Never rejects, because docshelf must serve a version even without its switcher. */
async function surveyOf(
  release: ReleaseView,
  { switcher, searchBox }: SiteForm,
  surveyVersions: SurveyVersions,
  searches: OwnSearches,
): Promise<VersionParts['survey']> {
  const versions = switcher ? await surveyVersions(release).catch(() => NO_VERSIONS) : NO_VERSIONS;
  return { versions, searches: searchBox?.replaces ? await searches(release) : [] };
}

export function buildVersion<Parts extends VersionParts>(
  parts: Parts,
  { switcher = null, searchBox = null, ...form }: SiteForm,
  beside: Beside | null = null,
): Parts & ServedVersion {
  const { release, retained, rules, survey } = parts;
  const { version } = release;
  const { basePath = '/', search = null, additions } = form;
  const active = beside === null ? release : beside.active;
  const toAll = [
    searchBox && searchBoxAdditions(searchBox, survey.searches, beside && version),
    additions,
    switcher && active && switcherAdditions(switcher, { version, active: active.version }, survey.versions),
  ];
  const pages = beside?.pages ?? null;
  const place = beside && {
    basePath: versionRoot(basePath, version),
    search: search && { ...search, version },
    additionsOf:
      switcher &&
      active &&
      pages &&
      versionNotice(switcher, { release, active, languages: new SiteLanguages(release), basePath, pages }),
  };
  const settings = { ...form, additions: joinAdditions(toAll), ...place };
  return { ...parts, snapshot: new SiteSnapshot(release, retained, settings, rules) };
}

function policyNotice(version: string, { searchBox = null, switcher = null }: SiteForm): string | null {
  const added = [searchBox && 'the search box', switcher && 'the version switcher'].filter(Boolean);
  if (added.length === 0) return null;
  return `The Content-Security-Policy of version "${version}" blocks ${added.join(' and ')}. Allow 'self' in its script-src, without 'strict-dynamic'.`;
}

/** Notice about a missing start page. The usual cause is an archive with more than one top-level folder. */
const startPageNotice = (version: string): string =>
  `The start page of version "${version}" is missing: "/" responds with 404. Pack index.html at the root of the archive, or in its only top-level folder.`;

/** Warns the operator if a rule that hides pages has no effect because the bundle lacks its 404 page. The pages are then public. */
function hidingNotices({ release, rules, snapshot }: ServedVersion): string[] {
  const missing = [...rules.redirects.hidingPages()].filter((page) => snapshot.pages.fileAt(page, new Work()) === null);
  return missing.slice(0, NOTICES_MAX).map((page) => {
    return `Version "${release.version}" has no page "${page}", so its rules with "${page} 404!" hide no pages. Add the page to the bundle.`;
  });
}

interface SwitchOptions<Settings> {
  readonly settings: Settings;
  readonly surveyVersions?: SurveyVersions;
  readonly onChange?: (former: SiteState<Settings>, next: SiteState<Settings>) => void;
}

export class SiteSwitch<Settings extends { readonly form: SiteForm }> {
  /** Only this class replaces the state. */
  state: SiteState<Settings>;
  readonly #searches = ownSearches();
  readonly #surveyVersions: SurveyVersions;
  readonly #onChange: SwitchOptions<Settings>['onChange'];

  constructor({ settings, surveyVersions = surveyNone, onChange }: SwitchOptions<Settings>) {
    this.state = { settings, version: null };
    this.#surveyVersions = surveyVersions;
    this.#onChange = onChange;
  }

  get served(): LiveVersion | null {
    return this.state.version;
  }

  get current(): SiteSnapshot | null {
    return this.state.version?.snapshot ?? null;
  }

  /** Reads a version. Returns a function that starts to serve the version. @throws DocshelfError `cannot_read`, `release_damaged` */
  async prepare(
    release: ReleaseView,
    retained: readonly KeptRelease[],
  ): Promise<(activatedAt: string) => Promise<void>> {
    const { form } = this.state.settings;
    const parts = await readVersion(release, retained, form, this.#surveyVersions, this.#searches);
    const version = buildVersion(parts, form);
    return async (activatedAt) => {
      if (form !== this.state.settings.form) return this.#rebuild({ ...parts, activatedAt });
      this.#replace({ version: { ...version, activatedAt } });
    };
  }

  updateRetained(retained: readonly KeptRelease[]): void {
    const { version } = this.state;
    if (version !== null) void this.#rebuild({ ...version, retained });
  }

  turnOff(): void {
    this.#replace({ version: null });
  }

  applySettings(settings: Settings): void {
    const { settings: former, version } = this.state;
    if (isDeepStrictEqual(settings.form, former.form)) this.#replace({ settings: { ...settings, form: former.form } });
    else if (version === null) this.#replace({ settings });
    else void this.#rebuild(version, settings);
  }

  async notices(): Promise<readonly string[]> {
    const { settings, version } = this.state;
    if (version === null) return [];
    const { release, rules, survey, snapshot } = version;
    const { switcher, searchBox = null } = settings.form;
    const why = switcher ? switcherNotice(release.version, survey.versions) : null;
    const searches = ownSearchNotices(release.version, await this.#searches(release), searchBox);
    const blocked = allowsOwnScripts(snapshot.contentPolicy) ? null : policyNotice(release.version, settings.form);
    const start = (await snapshot.find('')).kind === 'missing' ? startPageNotice(release.version) : null;
    const own = [start, ...rules.notices, ...hidingNotices(version), why, blocked, ...searches, ...snapshot.notices];
    return own.filter((notice) => notice !== null);
  }

  /** Serves the rebuilt version at once. Then lists versions and searches, and rebuilds the version again if they have changed. */
  async #rebuild(parts: VersionParts & Pick<LiveVersion, 'activatedAt'>, settings = this.state.settings) {
    this.#replace({ settings, version: buildVersion(parts, settings.form) });
    const survey = await surveyOf(parts.release, settings.form, this.#surveyVersions, this.#searches);
    const { version, settings: now } = this.state;
    if (version?.release !== parts.release || isDeepStrictEqual(survey, version.survey)) return;
    this.#replace({ version: buildVersion({ ...version, survey }, now.form) });
  }

  #replace(changed: Partial<SiteState<Settings>>): void {
    const former = this.state;
    this.state = { ...former, ...changed };
    this.#onChange?.(former, this.state);
  }
}
