import { type ExportReport, isTerminal, type Job, type JobStatus } from '../../../domain/job.ts';
import { nounOf } from '../../../domain/text.ts';
import type { JobBoard, OperatedJob } from '../../job-desk.ts';
import { jobAddress, signInAddress } from '../addresses.ts';
import { showPage } from '../layout.tsx';
import { ActionForm } from '../parts/action-form.tsx';
import { callForPage } from '../parts/call-for-page.tsx';
import { FaultCode } from '../parts/fault-code.tsx';
import { Chip, type ChipTone } from '../parts/state.tsx';
import { Name, Table } from '../parts/tables.tsx';
import { TimeAgo } from '../parts/time.tsx';
import { bytesInWords, countInWords } from '../parts/wording.ts';
import { type ConsoleRoute, type ConsoleVisit, call, parameterOf } from '../visit.ts';
import { cancelJob, retryJob, startJob } from './job-actions.ts';
import { problemPage } from './problem.tsx';

export const jobRoutes: readonly ConsoleRoute[] = [
  { method: 'GET', path: '/jobs', run: showJobs },
  { method: 'POST', path: '/jobs', act: startJob },
  { method: 'GET', path: '/jobs/:jobId', run: showJob },
  { method: 'GET', path: '/jobs/:jobId/report', run: showReportDocument },
  { method: 'POST', path: '/jobs/:jobId/cancel', act: cancelJob },
  { method: 'POST', path: '/jobs/:jobId/retry', act: retryJob },
];

const TONES: Readonly<Record<JobStatus, ChipTone>> = {
  queued: 'none',
  running: 'info',
  completed: 'good',
  failed: 'bad',
};
/** What a report lists of a thousand findings; the others are in the document. */
const FINDINGS_SHOWN = 200;

async function showJobs(visit: ConsoleVisit): Promise<Response> {
  const query = { cursor: visit.c.req.query('cursor') };
  const { status, ...called } = await callForPage<JobBoard>(visit, 'listJobs', { query });
  const content = (
    <>
      <h1>Export jobs</h1>
      {called.value === null ? called.instead : <Board visit={visit} board={called.value} />}
    </>
  );
  return showPage(visit, { title: 'Export jobs', page: 'jobs', status, content });
}

function Board({ visit, board }: { readonly visit: ConsoleVisit; readonly board: JobBoard }) {
  const { jobs, nextCursor, domains } = board;
  return (
    <>
      <StartForm visit={visit} domains={domains} />
      <Table
        id="jobs"
        title="Jobs"
        note="the newest first"
        columns={['Job', 'Site', 'Version', 'State', 'Pages', 'Started', ...(visit.session ? ['Actions'] : [])]}
        numbers={['Pages']}
        empty="No job was started yet."
        rows={jobs.map((job) => <JobRow visit={visit} job={job} />)}
      />
      {nextCursor !== null && (
        <p>
          <a href={`${visit.root}jobs?cursor=${encodeURIComponent(nextCursor)}`}>Older jobs</a>
        </p>
      )}
    </>
  );
}

interface JobProps {
  readonly visit: ConsoleVisit;
  readonly job: OperatedJob;
}

function StartForm({ visit, domains }: { readonly visit: ConsoleVisit; readonly domains: readonly string[] }) {
  if (domains.length === 0) {
    return (
      <p class="card empty">
        No site can be exported: give a domain of <code>organizations</code> its <code>source</code>.
      </p>
    );
  }
  return (
    <ActionForm visit={visit} action="jobs" class="card narrow">
      <h2>Export a site</h2>
      <label for="domain">Site</label>
      <select id="domain" name="domain" required>
        {domains.map((domain) => (
          <option value={domain}>{domain}</option>
        ))}
      </select>
      <label for="version">Version</label>
      <input id="version" name="version" autocomplete="off" maxlength={128} aria-describedby="version-help" />
      <p class="soft" id="version-help">
        The label of the export, such as 2024-06-01. It may stay empty.
      </p>
      <button type="submit" class="primary">
        Start
      </button>
    </ActionForm>
  );
}

function JobState({ job: { status, progress } }: { readonly job: Job }) {
  return (
    <>
      <Chip tone={TONES[status]}>{status}</Chip> {!isTerminal(status) && `${Math.floor(progress)} %`}
    </>
  );
}

function JobRow({ visit, job }: JobProps) {
  const { jobId, domain, organization, version, pageCount, createdAt, error, fault } = job;
  return (
    <tr id={jobId}>
      <th scope="row">
        <a href={visit.root + jobAddress(jobId)}>
          <Name>{jobId}</Name>
        </a>
      </th>
      <td data-column="Site">
        {domain} <small>{organization}</small>
      </td>
      <td data-column="Version">
        <Name>{version ?? 'none'}</Name>
      </td>
      <td data-column="State">
        <JobState job={job} /> {error !== null && <small>{error}</small>}{' '}
        {fault && (
          <small>
            <FaultCode root={visit.root} code={fault.code} />
          </small>
        )}
      </td>
      <td data-column="Pages" class="number">
        {countInWords(pageCount)}
      </td>
      <td data-column="Started">
        <TimeAgo at={createdAt} now={visit.now} />
      </td>
      {visit.session && (
        <td data-column="Actions" class="acts">
          <JobActs visit={visit} job={job} />
        </td>
      )}
    </tr>
  );
}

/** Names of buttons say of which job: a list of them is what some readers hear. */
function JobActs({ visit, job: { jobId, status } }: JobProps) {
  const [act, name] = isTerminal(status) ? (['retry', 'Start again'] as const) : (['cancel', 'Cancel'] as const);
  return (
    <ActionForm visit={visit} action={`${jobAddress(jobId)}/${act}`} stays>
      <button type="submit" aria-label={`${name} ${jobId}`}>
        {name}
      </button>
    </ActionForm>
  );
}

async function showJob(visit: ConsoleVisit): Promise<Response> {
  const input = { parameters: { jobId: parameterOf(visit, 'jobId') } };
  const called = await callForPage<OperatedJob>(visit, 'showJob', input);
  const job = called.value;
  if (job === null) {
    const content = (
      <>
        <h1>Export job</h1>
        {called.instead}
      </>
    );
    return showPage(visit, { title: 'Export job', page: 'jobs', status: called.status, content });
  }
  // Reports name pages, also of sites whose readers sign in.
  const hint = [<a href={visit.root + signInAddress(visit)}>Sign in</a>, ' to see the report.'];
  const report = isTerminal(job.status)
    ? await callForPage<ExportReport>(visit, 'showReport', { ...input, hint })
    : null;
  const content = (
    <>
      <p class="up">
        <a href={`${visit.root}jobs`}>All jobs</a>
      </p>
      <h1>
        {job.domain} <small>{job.version ?? ''}</small>
      </h1>
      <section class="card lead">
        <h2>{job.jobId}</h2>
        <p class="big">
          <JobState job={job} />
        </p>
        <JobError visit={visit} job={job} />
        <p class="soft">
          {countInWords(job.pageCount)} {nounOf(job.pageCount, 'page')} of {job.organization}, started{' '}
          <TimeAgo at={job.createdAt} now={visit.now} />, changed <TimeAgo at={job.updatedAt} now={visit.now} />
        </p>
        <JobActs visit={visit} job={job} />
      </section>
      {report && (report.value === null ? report.instead : <Report visit={visit} report={report.value} />)}
    </>
  );
  return showPage(visit, { title: `Export of ${job.domain}: ${job.status}`, page: 'jobs', content });
}

/** A sentence, what to do next, and the code that leads to the manual. */
function JobError({ visit, job: { error, fault } }: JobProps) {
  if (fault === null) return error === null ? null : <p>{error}</p>;
  return (
    <>
      <p>{fault.message}</p>
      {fault.next !== null && (
        <p>
          <strong>Next:</strong> {fault.next}
        </p>
      )}
      <p>
        <small>
          <FaultCode root={visit.root} code={fault.code} />
        </small>
      </p>
    </>
  );
}

async function showReportDocument(visit: ConsoleVisit): Promise<Response> {
  const called = await call(visit, 'showReport', { parameters: { jobId: parameterOf(visit, 'jobId') } });
  if (called.problem !== null) return problemPage(visit, called.problem, new Headers());
  return visit.c.json(called.value);
}

interface ReportProps {
  readonly visit: ConsoleVisit;
  readonly report: ExportReport;
}

function Report({ visit, report: { jobId, files, bytes, counts, findings } }: ReportProps) {
  const kinds = Object.entries(counts);
  const total = kinds.reduce((sum, [, count]) => sum + count, 0);
  const shown = findings.slice(0, FINDINGS_SHOWN);
  const left = total > shown.length ? `, of which ${countInWords(shown.length)} are shown` : '';
  return (
    <>
      <p>
        {countInWords(files)} {nounOf(files, 'file')}, {bytesInWords(bytes)}.{' '}
        {kinds.map(([kind, count]) => (
          <>
            <Chip tone="warn">{`${kind} ${countInWords(count)}`}</Chip>{' '}
          </>
        ))}
      </p>
      <Table
        id="findings"
        title="Left out, or found wrong"
        note={`${countInWords(total)} ${nounOf(total, 'finding')}${left}`}
        columns={['Kind', 'Page', 'What']}
        empty="Nothing was."
        rows={shown.map(({ kind, page, detail }) => (
          <tr>
            <th scope="row">
              <Name>{kind}</Name>
            </th>
            <td data-column="Page">
              <code>{page}</code>
            </td>
            <td data-column="What">{detail}</td>
          </tr>
        ))}
      />
      {findings.length > shown.length && (
        <p>
          <a href={`${visit.root}${jobAddress(jobId)}/report`}>The whole report, as JSON</a>
        </p>
      )}
    </>
  );
}
