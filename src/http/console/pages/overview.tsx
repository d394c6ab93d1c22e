import type { DeployState, SiteStatusReport, StatusReport } from '../../../domain/status.ts';
import { counted } from '../../../domain/text.ts';
import {
  Chip,
  countInWords,
  Day,
  FaultCode,
  Name,
  type RowOfCells,
  type SortableColumn,
  StateChip,
  Table,
  Time,
  TimeAgo,
} from '../elements.tsx';
import { ActionForm } from '../forms.tsx';
import { showPage } from '../layout.tsx';
import { DaemonAlerts, Place, placeOf, shelfSites } from '../shown-sites.tsx';
import {
  backTo,
  type ConsoleRoute,
  type ConsoleVisit,
  call,
  type SignedVisit,
  siteAddress,
  type VisitProps,
} from '../visit.ts';
import { SiteContent } from './site.tsx';

export const overviewRoutes: readonly ConsoleRoute[] = [
  { method: 'GET', path: '/', run: showOverview },
  { method: 'POST', path: '/reload', act: reload },
];

async function showOverview(visit: ConsoleVisit): Promise<Response> {
  const status = await visit.parts.status();
  const sites = shelfSites(status);
  const [only] = sites;
  const isOne = sites.length === 1 && only !== undefined;
  const title = isOne ? `${only.deployment.domain}: ${only.state}` : titleOf(sites);
  const content = (
    <>
      {isOne ? <SiteContent visit={visit} site={only} /> : <AllSites visit={visit} status={status} sites={sites} />}
      <DaemonFacts visit={visit} status={status} />
    </>
  );
  return showPage(visit, { title, page: '', state: status, content });
}

/** Reloads the config. The reload also retries failed sites. */
async function reload(visit: SignedVisit): Promise<Response> {
  const { problem } = await call(visit, 'reload');
  const text = problem === null ? 'The config was reloaded' : 'The config was not reloaded';
  return backTo(visit, addressOf(listOf((name) => visit.form.get(name))), { text, problem });
}

type Show = 'all' | 'problems' | DeployState;
const SHOWN: readonly Show[] = ['all', 'problems', 'waiting', 'stale', 'ready', 'off'];

type SortKey = keyof typeof SORTS;

interface SiteList {
  readonly show: Show;
  readonly query: string;
  readonly sort: SortKey;
  readonly isDescending: boolean;
}

const domainOf = ({ deployment }: SiteStatusReport): string => deployment.domain ?? '';

function hasProblem({ state, lastError, search }: SiteStatusReport): boolean {
  const isSearchFailed = search?.keyword === 'failed' || search?.semantic === 'failed';
  return state === 'waiting' || state === 'stale' || (state !== 'off' && (lastError !== null || isSearchFailed));
}

function rankOf(site: SiteStatusReport): number {
  if (site.state === 'waiting') return 0;
  if (site.state === 'stale') return 1;
  if (hasProblem(site)) return 2;
  return site.state === 'off' ? 4 : 3;
}

const QUERY_MAX = 200;

const SORTS = {
  state: (site: SiteStatusReport) => rankOf(site),
  site: domainOf,
  version: ({ active }: SiteStatusReport) => active?.version ?? '',
  activated: ({ active }: SiteStatusReport) => active?.activatedAt ?? '',
  pages: ({ active }: SiteStatusReport) => active?.pages ?? -1,
  search: ({ search }: SiteStatusReport) => search?.keyword ?? 'off',
  address: placeOf,
  error: ({ lastError }: SiteStatusReport) => lastError?.code ?? '',
} as const;

const COLUMNS: Readonly<Record<SortKey, string>> = {
  site: 'Site',
  state: 'State',
  version: 'Version',
  activated: 'Activated',
  pages: 'Pages',
  search: 'Search',
  address: 'Address',
  error: 'Last error',
};

function listOf(parameter: (name: string) => string | null | undefined): SiteList {
  const written = parameter('sort') ?? '';
  const sort = written.replace(/^-/, '');
  return {
    show: SHOWN.find((show) => show === parameter('show')) ?? 'all',
    query: (parameter('q') ?? '').trim().slice(0, QUERY_MAX),
    sort: Object.hasOwn(SORTS, sort) ? (sort as SortKey) : 'state',
    isDescending: written.startsWith('-'),
  };
}

const sortOf = ({ sort, isDescending }: SiteList): string => (isDescending ? '-' : '') + sort;

/** Query string of the list of sites. It omits default values, so that equal lists have the same address. */
function addressOf(list: SiteList): string {
  const { show, query } = list;
  const sort = sortOf(list);
  const parameters = Object.entries({ show: show === 'all' ? '' : show, q: query, sort: sort === 'state' ? '' : sort });
  const given = new URLSearchParams(parameters.filter(([, value]) => value !== '')).toString();
  return given === '' ? '' : `?${given}`;
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

function sorted(sites: readonly SiteStatusReport[], { sort, isDescending }: SiteList): SiteStatusReport[] {
  const keyOf = SORTS[sort];
  const compare = (one: string | number, other: string | number): number =>
    typeof one === 'number' && typeof other === 'number' ? one - other : collator.compare(`${one}`, `${other}`);
  return sites
    .map((site) => ({ site, value: keyOf(site) }))
    .sort(
      (one, other) =>
        compare(one.value, other.value) * (isDescending ? -1 : 1) ||
        collator.compare(domainOf(one.site), domainOf(other.site)),
    )
    .map(({ site }) => site);
}

function matching(sites: readonly SiteStatusReport[], query: string): readonly SiteStatusReport[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return sites;
  return sites.filter((site) => {
    const { title, active, pinned, lastError, activity } = site;
    const texts = [domainOf(site), title, placeOf(site), active?.version, pinned, lastError?.code, lastError?.message];
    const text = [...texts, activity].join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

const isShown = (site: SiteStatusReport, show: Show): boolean =>
  show === 'all' || (show === 'problems' ? hasProblem(site) : site.state === show);

function titleOf(sites: readonly SiteStatusReport[]): string {
  const count = sites.filter(hasProblem).length;
  return `${counted(sites.length, 'site')}: ${count === 0 ? 'no problems' : `${countInWords(count)} with problems`}`;
}

interface AllSitesProps extends VisitProps {
  readonly status: StatusReport;
  readonly sites: readonly SiteStatusReport[];
}

function AllSites({ visit, status, sites }: AllSitesProps) {
  const list = listOf((name) => visit.c.req.query(name));
  const matches = matching(sites, list.query);
  const shown = sorted(
    matches.filter((site) => isShown(site, list.show)),
    list,
  );
  return (
    <>
      <div class="heading">
        <h1>{countInWords(sites.length)} sites</h1>
        {!sites.some(hasProblem) && <Chip tone="good">no problems</Chip>}
      </div>
      <Problems visit={visit} sites={sites.filter(hasProblem)} />
      <DaemonAlerts visit={visit} status={status} />
      <div class="list">
        <Filters visit={visit} list={list} sites={matches} />
        {shown.length > 0 && <SelectedActions visit={visit} list={list} />}
        <Table
          id="sites"
          title="Sites"
          note={`${countInWords(shown.length)} of ${countInWords(sites.length)} shown`}
          class="dense"
          columns={columnsOf(visit, list)}
          numbers={['Pages']}
          empty={sites.length === 0 ? 'The config has no sites.' : 'No site matches the filter.'}
          rows={shown.map((site) => siteRow(visit, site))}
        />
      </div>
    </>
  );
}

const PROBLEMS_NAMED_MAX = 8;

function Problems({ visit, sites }: VisitProps & { readonly sites: readonly SiteStatusReport[] }) {
  if (sites.length === 0) return null;
  const named = sorted(sites, { show: 'all', query: '', sort: 'state', isDescending: false });
  const more = named.length - PROBLEMS_NAMED_MAX;
  return (
    <section class={`alert ${named.some(({ state }) => state === 'waiting') ? 'bad' : 'warn'}`} id="problems">
      <h2>{counted(named.length, 'site')} with problems</h2>
      <ul class="inline">
        {named.slice(0, PROBLEMS_NAMED_MAX).map((site) => (
          <li>
            <a href={visit.root + siteAddress(domainOf(site))}>{domainOf(site)}</a> {site.lastError?.code ?? site.state}
          </li>
        ))}
        {more > 0 && (
          <li>
            <a href={`${visit.root}?show=problems`}>{countInWords(more)} more</a>
          </li>
        )}
      </ul>
    </section>
  );
}

const SHOWN_NAMES: Readonly<Record<Show, string>> = {
  all: 'All',
  problems: 'With problems',
  waiting: 'Waiting',
  stale: 'Stale',
  ready: 'Ready',
  off: 'Off',
};

interface FiltersProps extends VisitProps {
  readonly list: SiteList;
  readonly sites: readonly SiteStatusReport[];
}

/** Filters of the list of sites. With `live.js`, the list changes while the operator types. */
function Filters({ visit, list, sites }: FiltersProps) {
  const counts = SHOWN.map((show) => ({ show, count: sites.filter((site) => isShown(site, show)).length }));
  const offered = counts.filter(({ show, count }) => count > 0 || show === 'all' || show === list.show);
  return (
    <div class="filters">
      <nav aria-label="States">
        {offered.map(({ show, count }) => (
          <a
            href={visit.root + addressOf({ ...list, show })}
            class="chip none"
            aria-current={show === list.show ? 'true' : undefined}
          >
            {SHOWN_NAMES[show]} {countInWords(count)}
          </a>
        ))}
      </nav>
      <search>
        <form action={visit.root} class="filter" data-live>
          {list.show !== 'all' && <input type="hidden" name="show" value={list.show} />}
          <label for="filter">Filter</label>
          <input
            id="filter"
            type="search"
            name="q"
            value={list.query}
            maxlength={QUERY_MAX}
            autocomplete="off"
            placeholder="Name, host, version or error"
          />
          <label for="sort">Sort by</label>
          <select id="sort" name="sort">
            {(Object.keys(COLUMNS) as SortKey[]).map((key) => (
              <option value={key === list.sort ? sortOf(list) : key} selected={key === list.sort}>
                {COLUMNS[key]}
              </option>
            ))}
          </select>
          <button type="submit">Apply</button>
        </form>
      </search>
    </div>
  );
}

function SelectedActions({ visit, list }: VisitProps & { readonly list: SiteList }) {
  const { show, query } = list;
  return (
    <ActionForm
      visit={visit}
      action="activate/review"
      class="buttons"
      id="bulk"
      fields={{ show, q: query, sort: sortOf(list) }}
    >
      <label class="all" data-own hidden>
        <input type="checkbox" data-all="site" /> Select all shown
      </label>
      <button type="submit">Activate newest versions</button>
      <button type="submit" formaction={`${visit.root}reload`}>
        Reload config and retry
      </button>
      <small>for the selected sites</small>
    </ActionForm>
  );
}

function columnsOf({ root }: ConsoleVisit, list: SiteList): readonly SortableColumn[] {
  return (Object.keys(COLUMNS) as SortKey[]).map((sort) => {
    const isCurrent = sort === list.sort;
    const href = root + addressOf({ ...list, sort, isDescending: isCurrent && !list.isDescending });
    return {
      name: COLUMNS[sort],
      href,
      sort: isCurrent ? (list.isDescending ? 'descending' : 'ascending') : undefined,
    };
  });
}

function siteRow(visit: ConsoleVisit, site: SiteStatusReport): RowOfCells {
  const { title, state, active, search, lastError, activity } = site;
  const domain = domainOf(site);
  const cells = [
    <>
      {visit.session && (
        <input type="checkbox" name="site" value={domain} form="bulk" aria-label={`Select ${domain}`} />
      )}{' '}
      <a href={visit.root + siteAddress(domain)}>{domain}</a>
      {title && <small>{title}</small>}
    </>,
    <>
      <StateChip state={state} />
      {activity && <small>{activity}</small>}
    </>,
    active === null ? '–' : <Name>{active.version}</Name>,
    active === null ? '–' : <Day at={active.activatedAt} />,
    active === null ? '–' : countInWords(active.pages),
    search?.keyword ?? 'off',
    <Place site={site} />,
    lastError === null ? (
      '–'
    ) : (
      <>
        <FaultCode root={visit.root} code={lastError.code} /> <small>{lastError.message}</small>
      </>
    ),
  ];
  return { id: `site-${domain}`, cells };
}

function DaemonFacts({ visit, status }: VisitProps & { readonly status: StatusReport }) {
  const { lastReload, pending, jobs, startedAt, deployment } = status;
  return (
    <section>
      <div class="title">
        <h2>This daemon</h2>
        <small>{deployment.type} deployment</small>
      </div>
      <div class="cards">
        <div class="card">
          <h3>Last reload</h3>
          <p class="big">{lastReload === null ? 'none' : lastReload.ok ? 'succeeded' : 'failed'}</p>
          <p class="soft">
            {lastReload === null ? (
              'The config was not reloaded since the start.'
            ) : (
              <TimeAgo at={lastReload.at} now={visit.now} />
            )}
          </p>
          {pending.length > 0 && (
            <p>
              Restart needed for: <code>{pending.join(', ')}</code>
            </p>
          )}
          <ActionForm visit={visit} action="reload" stays>
            <button type="submit">Reload config</button>
          </ActionForm>
        </div>
        <div class="card">
          <h3>Exports</h3>
          <p class="big">{countInWords(jobs.running)} running</p>
          <p class="soft">{countInWords(jobs.queued)} queued</p>
        </div>
        <div class="card">
          <h3>Started</h3>
          <p class="big">
            <Time at={startedAt} />
          </p>
        </div>
      </div>
    </section>
  );
}
