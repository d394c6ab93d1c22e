import type { AuditLine, AuditPage } from '../../audit/audit.ts';
import { Chip, FaultCode, Name, Table, Time } from '../elements.tsx';
import { callForPage } from '../forms.tsx';
import { showPage } from '../layout.tsx';
import type { ConsoleRoute, ConsoleVisit, VisitProps } from '../visit.ts';

export const auditRoutes: readonly ConsoleRoute[] = [{ method: 'GET', path: '/audit', run: showAudit }];

async function showAudit(visit: ConsoleVisit): Promise<Response> {
  const called = await callForPage<AuditPage>(visit, 'audit', {
    query: { before: visit.c.req.query('before') },
    hint: 'Sign in to see the audit log.',
    failed: 'The audit log is not available',
  });
  const content = (
    <>
      <div class="heading">
        <h1>Audit log</h1>
      </div>
      {called.value === null ? called.instead : <Lines visit={visit} page={called.value} />}
    </>
  );
  return showPage(visit, { title: 'Audit log', page: 'audit', content });
}

function Lines({ visit, page }: VisitProps & { readonly page: AuditPage }) {
  return (
    <>
      <Table
        id="lines"
        title="Changes"
        note="newest first"
        columns={['Time', 'User', 'Action', 'Site or organization', 'Change', 'Result']}
        empty="There are no changes yet."
        rows={page.lines.map((line) => ({ cells: lineCells(visit, line) }))}
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
  session: 'console session',
  socket: 'command line',
  key: 'API key',
};

function lineCells(visit: ConsoleVisit, line: AuditLine) {
  const { at, by, id, client, action, target, site, organization, from, to, result, error, requestId } = line;
  return [
    <Time at={at} />,
    <>
      {ACTORS[by]} {id} <small>{client}</small>
    </>,
    <>
      {action} {target && <Name>{target}</Name>}
    </>,
    site ?? organization ?? 'daemon',
    <>
      {!from && !to && '–'}
      {from && ['from ', <Name>{from}</Name>, ' ']}
      {to && ['to ', <Name>{to}</Name>]}
    </>,
    <>
      {result === 'ok' ? <Chip tone="good">ok</Chip> : <FaultCode root={visit.root} code={result} />}{' '}
      {error && <small>{error}</small>}
      {result !== 'ok' && requestId && (
        <small>
          request <Name>{requestId}</Name>
        </small>
      )}
    </>,
  ];
}
