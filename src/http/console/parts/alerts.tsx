import type { SiteStatusReport, StatusReport } from '../../../domain/status.ts';
import type { ConsoleVisit } from '../visit.ts';
import { FaultCode } from './fault-code.tsx';
import { TimeAgo } from './time.tsx';

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
