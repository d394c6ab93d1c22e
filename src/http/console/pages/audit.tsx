import type { AuditLine, AuditPage } from '../../audit/audit-line.ts';
import { showPage } from '../layout.tsx';
import { FaultCode } from '../parts/fault-code.tsx';
import { Said } from '../parts/said.tsx';
import { Chip } from '../parts/state.tsx';
import { Table } from '../parts/tables.tsx';
import { Time } from '../parts/time.tsx';
import type { ConsoleSession } from '../session/sessions.ts';
import { type ConsoleRoute, type ConsoleVisit, call } from '../visit.ts';

export const auditRoutes: readonly ConsoleRoute[] = [{ method: 'GET', path: '/audit', run: showAudit }];

function showAudit(visit: ConsoleVisit): Promise<Response> {
  const { session } = visit;
  const content = (
    <>
      <div class="heading">
        <h1>Who changed what</h1>
      </div>
      {session === null ? <p class="card empty">Sign in to see it.</p> : <Lines visit={visit} session={session} />}
    </>
  );
  return showPage(visit, { title: 'Who changed what', page: 'audit', content });
}

async function Lines({ visit, session }: { readonly visit: ConsoleVisit; readonly session: ConsoleSession }) {
  const before = visit.c.req.query('before');
  const called = await call({ ...visit, session }, 'audit', before === undefined ? {} : { query: { before } });
  if (called.problem !== null)
    return <Said root={visit.root} message={{ text: 'The lines cannot be shown', problem: called.problem }} />;
  const page = called.value as AuditPage;
  return (
    <>
      <Table
        id="lines"
        title="Changes"
        note="the newest first"
        columns={['When', 'Who', 'What', 'Where', 'From', 'To', 'Result']}
        empty="Nothing has been changed yet."
        rows={page.lines.map((line) => <LineRow visit={visit} line={line} />)}
      />
      {page.before !== null && (
        <p>
          <a href={`${visit.root}audit?before=${encodeURIComponent(page.before)}`}>Older changes</a>
        </p>
      )}
    </>
  );
}

const ACTORS: Readonly<Record<AuditLine['by'], string>> = {
  token: 'admin token',
  session: 'session',
  socket: 'command line',
  key: 'API key',
};

function LineRow({ visit, line }: { readonly visit: ConsoleVisit; readonly line: AuditLine }) {
  const { at, by, id, client, action, target, site, organization, from, to, result, error, requestId } = line;
  return (
    <tr>
      <th scope="row">
        <Time at={at} />
      </th>
      <td data-column="Who">
        {ACTORS[by]} {id} <small>{client}</small>
      </td>
      <td data-column="What">
        {action} {target}
      </td>
      <td data-column="Where">{site ?? organization ?? 'the daemon'}</td>
      <td data-column="From">{from ?? '–'}</td>
      <td data-column="To">{to ?? '–'}</td>
      <td data-column="Result">
        {result === 'ok' ? <Chip tone="good">ok</Chip> : <FaultCode root={visit.root} code={result} />}{' '}
        {error && <small>{error}</small>}
        {result !== 'ok' && requestId && <small>request {requestId}</small>}
      </td>
    </tr>
  );
}
