import type { SiteStatusReport, StatusReport } from '../../../domain/status.ts';
import { countInWords, FaultCode, Name, type RowOfCells, StateChip, Table, Time, TimeAgo } from '../elements.tsx';
import { ActionForm } from '../forms.tsx';
import { showPage } from '../layout.tsx';
import { DaemonAlerts, placeOf, shelfSites } from '../shown-sites.tsx';
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
  const title = isOne
    ? `${only.deployment.domain}: ${only.state}`
    : `${countInWords(sites.length)} sites: ${status.state}`;
  const content = (
    <>
      {isOne ? <SiteContent visit={visit} site={only} /> : <AllSites visit={visit} status={status} sites={sites} />}
      <DaemonFacts visit={visit} status={status} />
    </>
  );
  return showPage(visit, { title, page: '', state: status, content });
}

async function reload(visit: SignedVisit): Promise<Response> {
  const { problem } = await call(visit, 'reload');
  const text = problem === null ? 'The config was reloaded' : 'The config was not reloaded';
  return backTo(visit, '', { text, problem });
}

interface AllSitesProps extends VisitProps {
  readonly status: StatusReport;
  readonly sites: readonly SiteStatusReport[];
}

function AllSites({ visit, status, sites }: AllSitesProps) {
  return (
    <>
      <div class="heading">
        <h1>{countInWords(sites.length)} sites</h1>
        <StateChip state={status.state} />
      </div>
      <DaemonAlerts visit={visit} status={status} />
      <Table
        id="sites"
        title="Sites"
        note="in this daemon"
        columns={['Site', 'State', 'Version', 'Pages', 'Search', 'Address', 'Last error']}
        numbers={['Pages']}
        empty="The config has no site."
        rows={sites.map((site) => siteRow(visit, site))}
      />
    </>
  );
}

function siteRow(visit: ConsoleVisit, site: SiteStatusReport): RowOfCells {
  const { deployment, title, state, active, search, lastError, activity } = site;
  const domain = deployment.domain ?? '';
  const none = <span class="soft">none</span>;
  const cells = [
    <>
      <a href={visit.root + siteAddress(domain)}>{domain}</a>
      {title && <small>{title}</small>}
    </>,
    <>
      <StateChip state={state} />
      {activity && <small>{activity}</small>}
    </>,
    active === null ? (
      none
    ) : (
      <>
        <Name>{active.version}</Name>{' '}
        <small class="ago">
          since <Time at={active.activatedAt} />
        </small>
      </>
    ),
    active === null ? '–' : countInWords(active.pages),
    search?.keyword ?? 'off',
    placeOf(site),
    lastError === null ? (
      none
    ) : (
      <>
        {lastError.message} <FaultCode root={visit.root} code={lastError.code} />
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
            since <Time at={startedAt} />
          </p>
        </div>
      </div>
    </section>
  );
}
