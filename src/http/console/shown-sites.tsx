import { DocshelfError } from '../../domain/errors.ts';
import type { SiteStatusReport, StatusReport } from '../../domain/status.ts';
import { FaultCode, TimeAgo } from './elements.tsx';
import type { ConsoleVisit } from './visit.ts';

/** As of a list, where there is one site too. */
export function shelfSites(status: StatusReport): readonly SiteStatusReport[] {
  return status.sites ?? [{ ...status, title: null, hosts: [], basePath: '/' }];
}

/** @throws DocshelfError `not_found` */
export function shelfSite(status: StatusReport, domain: string): SiteStatusReport {
  const site = shelfSites(status).find(({ deployment }) => deployment.domain === domain);
  if (site !== undefined) return site;
  throw new DocshelfError(
    'not_found',
    `Cannot show the site "${domain.slice(0, 200)}": this daemon has none of that domain`,
    {
      next: 'The page at / lists its sites.',
    },
  );
}

/** `handbook.acme.dev/guides/`; null: all hosts that no other site names. */
export function placeOf({ hosts, basePath }: SiteStatusReport): string {
  return hosts.length === 0 ? `All other hosts, path ${basePath}` : `${hosts.join(', ')} ${basePath}`;
}

/** Of one site: its fault, the refused config, what goes on, what to know. */
export function SiteAlerts({ visit, site }: { readonly visit: ConsoleVisit; readonly site: SiteStatusReport }) {
  const { lastError, activity, notices } = site;
  return (
    <>
      {lastError && <ErrorAlert visit={visit} error={lastError} />}
      <ReloadAlert visit={visit} status={site} />
      <section class="alert info" id="activity" role="status" hidden={activity === null}>
        <h2>Under way</h2>
        <p>{activity}</p>
      </section>
      <Notices notices={notices} />
    </>
  );
}

/** Of all of them, without what is one site's. */
export function DaemonAlerts({ visit, status }: { readonly visit: ConsoleVisit; readonly status: StatusReport }) {
  return (
    <>
      <ReloadAlert visit={visit} status={status} />
      <Notices notices={status.notices} />
    </>
  );
}

function ErrorAlert({
  visit,
  error,
}: {
  readonly visit: ConsoleVisit;
  readonly error: NonNullable<StatusReport['lastError']>;
}) {
  const { at, code, message, next } = error;
  return (
    <section class="alert bad" id="last-error">
      <h2>Last error</h2>
      <p>{message}</p>
      {next !== null && (
        <p>
          <strong>Next:</strong> {next}
        </p>
      )}
      <p>
        <small>
          <FaultCode root={visit.root} code={code} />, <TimeAgo at={at} now={visit.now} />
        </small>
      </p>
    </section>
  );
}

function ReloadAlert({
  visit,
  status: { lastReload, lastError },
}: {
  readonly visit: ConsoleVisit;
  readonly status: Pick<StatusReport, 'lastReload' | 'lastError'>;
}) {
  if (lastReload === null || lastReload.ok || lastReload.error === lastError?.message) return null;
  return (
    <section class="alert bad" id="reload-error">
      <h2>The changed config was refused</h2>
      <p>{lastReload.error ?? ''}</p>
      <p>
        <strong>Next:</strong> Mend the config: the one before it is still in force, and a change to the file is noticed
        by itself.
      </p>
      <p>
        <small>
          <FaultCode root={visit.root} code="config_invalid" />, <TimeAgo at={lastReload.at} now={visit.now} />
        </small>
      </p>
    </section>
  );
}

function Notices({ notices }: { readonly notices: readonly string[] }) {
  if (notices.length === 0) return null;
  return (
    <section class="alert info" id="notices">
      <h2>Good to know</h2>
      <ul>
        {notices.map((notice) => (
          <li>{notice}</li>
        ))}
      </ul>
    </section>
  );
}
