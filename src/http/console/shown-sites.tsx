import { DocshelfError } from '../../domain/errors.ts';
import type { SiteStatusReport, StatusReport } from '../../domain/status.ts';
import { Explained, TimeAgo } from './elements.tsx';
import type { VisitProps } from './visit.ts';

export function shelfSites(status: StatusReport): readonly SiteStatusReport[] {
  return status.sites ?? [{ ...status, title: null, hosts: [], basePath: '/' }];
}

export function shelfSite(status: StatusReport, domain: string): SiteStatusReport {
  const site = shelfSites(status).find(({ deployment }) => deployment.domain === domain);
  if (site !== undefined) return site;
  throw new DocshelfError('not_found', `Cannot show the site "${domain.slice(0, 200)}": this daemon has no such site`, {
    next: 'Open the page at / for the list of sites.',
  });
}

export function placeOf({ hosts, basePath }: SiteStatusReport): string {
  return hosts.length === 0 ? `All other hosts, path ${basePath}` : `${hosts.join(', ')} ${basePath}`;
}

const PLACE_LENGTH_MAX = 40;

export function Place({ site }: { readonly site: SiteStatusReport }) {
  const [first, ...others] = site.hosts;
  const place = placeOf(first === undefined ? site : { ...site, hosts: [first] });
  return (
    <span
      class={place.length <= PLACE_LENGTH_MAX ? 'short' : undefined}
      title={others.length > 0 ? placeOf(site) : undefined}
    >
      {place}
      {others.length > 0 && ` and ${others.length} more`}
    </span>
  );
}

export function SiteAlerts({ visit, site }: VisitProps & { readonly site: SiteStatusReport }) {
  const { lastError, activity, notices } = site;
  return (
    <>
      {lastError && <FaultAlert visit={visit} id="last-error" title="Last error" {...lastError} />}
      <ReloadAlert visit={visit} status={site} />
      <section class="alert info" id="activity" role="status" hidden={activity === null}>
        <h2>In progress</h2>
        <p>{activity}</p>
      </section>
      <Notices notices={notices} />
    </>
  );
}

export function DaemonAlerts({ visit, status }: VisitProps & { readonly status: StatusReport }) {
  return (
    <>
      <ReloadAlert visit={visit} status={status} />
      <Notices notices={status.notices} />
    </>
  );
}

interface FaultAlertProps extends VisitProps, NonNullable<StatusReport['lastError']> {
  readonly id: string;
  readonly title: string;
}

function FaultAlert({ visit, id, title, at, ...fault }: FaultAlertProps) {
  return (
    <section class="alert bad" id={id}>
      <h2>{title}</h2>
      <Explained root={visit.root} {...fault}>
        , <TimeAgo at={at} now={visit.now} />
      </Explained>
    </section>
  );
}

const MEND = 'Fix the config. docshelf reloads it when the file changes, and uses the previous config until then.';

function ReloadAlert({
  visit,
  status,
}: VisitProps & { readonly status: Pick<StatusReport, 'lastReload' | 'lastError'> }) {
  const { lastReload, lastError } = status;
  if (lastReload === null || lastReload.ok || lastReload.error === lastError?.message) return null;
  const fault = { at: lastReload.at, code: 'config_invalid', message: lastReload.error ?? '', next: MEND } as const;
  return <FaultAlert visit={visit} id="reload-error" title="The changed config was rejected" {...fault} />;
}

function Notices({ notices }: { readonly notices: readonly string[] }) {
  if (notices.length === 0) return null;
  return (
    <section class="alert info" id="notices">
      <h2>Notices</h2>
      <ul>
        {notices.map((notice) => (
          <li>{notice}</li>
        ))}
      </ul>
    </section>
  );
}
