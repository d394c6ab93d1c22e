import type { SiteStatusReport, StatusReport } from '../../../domain/status.ts';
import type { ConsoleVisit } from '../visit.ts';
import { TimeAgo } from './time.tsx';

/** Of one site: its fault, the refused config, what goes on, what to know. */
export function SiteAlerts({ visit, site }: { readonly visit: ConsoleVisit; readonly site: SiteStatusReport }) {
  const { lastError, activity, notices } = site;
  return (
    <>
      {lastError && <ErrorAlert visit={visit} error={lastError} />}
      <ReloadAlert status={site} />
      <section class="alert info" id="activity" role="status" hidden={activity === null}>
        <h2>Under way</h2>
        <p>{activity}</p>
      </section>
      <Notices notices={notices} />
    </>
  );
}

/** Of all of them, without what is one site's. */
export function DaemonAlerts({ status }: { readonly visit: ConsoleVisit; readonly status: StatusReport }) {
  return (
    <>
      <ReloadAlert status={status} />
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
          <code>{code}</code>, <TimeAgo at={at} now={visit.now} />
        </small>
      </p>
    </section>
  );
}

function ReloadAlert({
  status: { lastReload, lastError },
}: {
  readonly status: Pick<StatusReport, 'lastReload' | 'lastError'>;
}) {
  if (lastReload === null || lastReload.ok || lastReload.error === lastError?.message) return null;
  return (
    <section class="alert bad" id="reload-error">
      <h2>The changed config was refused</h2>
      <p>{lastReload.error ?? ''}</p>
      <p>
        <small>The one before it is still in force.</small>
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
