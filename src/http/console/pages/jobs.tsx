import { type ExportReport, isTerminal, type Job, type JobStatus } from '../../../domain/job.ts';
import { nounOf } from '../../../domain/text.ts';
import type { JobBoard, OperatedJob } from '../../job-desk.ts';
import {
  bytesInWords,
  Chip,
  type ChipTone,
  countInWords,
  Explained,
  FaultCode,
  Name,
  type RowOfCells,
  Table,
  TimeAgo,
  Up,
} from '../elements.tsx';
import { ActionForm, callForPage } from '../forms.tsx';
import { showPage } from '../layout.tsx';
import {
  backTo,
  type ConsoleRoute,
  type ConsoleVisit,
  call,
  fieldOf,
  jobAddress,
  parameterOf,
  type SignedVisit,
  signInAddress,
  type VisitProps,
} from '../visit.ts';
import { problemPage } from './errors.tsx';

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
/** Maximum findings of an export report to show on the page. The report's JSON document can list more. */
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

function Board({ visit, board }: VisitProps & { readonly board: JobBoard }) {
  const { jobs, nextCursor, domains } = board;
  return (
    <>
      <StartForm visit={visit} domains={domains} />
      <Table
        id="jobs"
        title="Jobs"
        note="newest first"
        columns={['Job', 'Site', 'Version', 'State', 'Pages', 'Started', ...(visit.session ? ['Actions'] : [])]}
        numbers={['Pages']}
        empty="There are no jobs yet."
        rows={jobs.map((job) => jobRow(visit, job))}
      />
      {nextCursor !== null && (
        <p>
          <a href={`${visit.root}jobs?cursor=${encodeURIComponent(nextCursor)}`}>Older jobs</a>
        </p>
      )}
    </>
  );
}

interface JobProps extends VisitProps {
  readonly job: OperatedJob;
}

function StartForm({ visit, domains }: VisitProps & { readonly domains: readonly string[] }) {
  if (domains.length === 0) {
    return (
      <p class="card empty">
        No site can be exported. Set <code>source</code> for a domain in <code>organizations</code>.
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
        Optional label of the export, such as 2024-06-01.
      </p>
      <button type="submit" class="primary">
        Start export
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

function jobRow(visit: ConsoleVisit, job: OperatedJob): RowOfCells {
  const { jobId, domain, organization, version, pageCount, createdAt, error, fault } = job;
  const cells = [
    <a href={visit.root + jobAddress(jobId)}>
      <Name>{jobId}</Name>
    </a>,
    <>
      {domain} <small>{organization}</small>
    </>,
    <Name>{version ?? 'none'}</Name>,
    <>
      <JobState job={job} /> {error !== null && <small>{error}</small>}{' '}
      {fault && (
        <small>
          <FaultCode root={visit.root} code={fault.code} />
        </small>
      )}
    </>,
    countInWords(pageCount),
    <TimeAgo at={createdAt} now={visit.now} />,
  ];
  return { id: jobId, cells: visit.session === null ? cells : [...cells, <JobActs visit={visit} job={job} />] };
}

/** Names of buttons include the job, because screen readers can list buttons without their rows. */
function JobActs({ visit, job: { jobId, status } }: JobProps) {
  const [act, name] = isTerminal(status) ? (['retry', 'Retry'] as const) : (['cancel', 'Cancel'] as const);
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
  // Show the export report only in a session, because it names pages of a site that can require a sign-in.
  const hint = [<a href={visit.root + signInAddress(visit)}>Sign in</a>, ' to see the report.'];
  const report = isTerminal(job.status)
    ? await callForPage<ExportReport>(visit, 'showReport', { ...input, hint })
    : null;
  const content = (
    <>
      <Up to={`${visit.root}jobs`} name="All jobs" />
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

function JobError({ visit, job: { error, fault } }: JobProps) {
  if (fault === null) return error === null ? null : <p>{error}</p>;
  return <Explained root={visit.root} {...fault} />;
}

async function showReportDocument(visit: ConsoleVisit): Promise<Response> {
  const called = await call(visit, 'showReport', { parameters: { jobId: parameterOf(visit, 'jobId') } });
  if (called.problem !== null) return problemPage(visit, called.problem, new Headers());
  return visit.c.json(called.value);
}

interface ReportProps extends VisitProps {
  readonly report: ExportReport;
}

function Report({ visit, report: { jobId, files, bytes, counts, findings } }: ReportProps) {
  const kinds = Object.entries(counts);
  const total = kinds.reduce((sum, [, count]) => sum + count, 0);
  const shown = findings.slice(0, FINDINGS_SHOWN);
  const left = total > shown.length ? `, ${countInWords(shown.length)} shown` : '';
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
        title="Findings"
        note={`${countInWords(total)} ${nounOf(total, 'finding')}${left}`}
        columns={['Kind', 'Page', 'Details']}
        empty="There are no findings."
        rows={shown.map(({ kind, page, detail }) => ({ cells: [<Name>{kind}</Name>, <code>{page}</code>, detail] }))}
      />
      {findings.length > shown.length && (
        <p>
          <a href={`${visit.root}${jobAddress(jobId)}/report`}>Full report as JSON</a>
        </p>
      )}
    </>
  );
}

async function startJob(visit: SignedVisit): Promise<Response> {
  const [domain, version] = [fieldOf(visit, 'domain'), visit.form.get('version')?.trim() ?? ''];
  const made = await call(visit, 'startJob', { body: { domain, ...(version === '' ? {} : { version }) } });
  if (made.problem !== null)
    return backTo(visit, 'jobs', { text: `The export of ${domain} was not started`, problem: made.problem });
  const { jobId } = made.value as OperatedJob;
  return backTo(visit, jobAddress(jobId), { text: `The export of ${domain} is queued`, problem: null });
}

async function retryJob(visit: SignedVisit): Promise<Response> {
  const former = parameterOf(visit, 'jobId');
  const made = await call(visit, 'retryJob', { parameters: { jobId: former } });
  if (made.problem !== null)
    return backTo(visit, jobAddress(former), { text: 'The job was not retried', problem: made.problem });
  const { jobId } = made.value as OperatedJob;
  return backTo(visit, jobAddress(jobId), { text: `The retry of ${former} is queued`, problem: null });
}

async function cancelJob(visit: SignedVisit): Promise<Response> {
  const jobId = parameterOf(visit, 'jobId');
  const { problem } = await call(visit, 'cancelJob', { parameters: { jobId } });
  const text = problem === null ? 'The job is being canceled' : 'The job was not canceled';
  return backTo(visit, jobAddress(jobId), { text, problem });
}
