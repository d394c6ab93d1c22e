import type { DeployEvent } from '../../deploy/index.ts';
import { toDocshelfError } from '../../domain/errors.ts';
import type { Job } from '../../domain/job.ts';
import { counted } from '../../domain/text.ts';
import type { JobEvent } from '../../export/index.ts';
import type { AuditLine } from '../../http/audit/audit.ts';
import type { SearchEvent } from '../../search/index.ts';
import type { Logger } from './log.ts';

export function logDeployEvent(log: Logger, event: DeployEvent): void {
  const { kind, ...facts } = event;
  if (event.kind === 'failed') logFailure(log, event.step, event.error);
  else if (event.kind !== 'progress') log.info({ event: kind, ...facts }, deployLine(event));
}

function deployLine(event: Exclude<DeployEvent, { kind: 'progress' | 'failed' }>): string {
  switch (event.kind) {
    case 'fetch-started':
      return `fetching ${event.link}`;
    case 'fetched':
      return `fetched ${(event.bytes / 1024 ** 2).toFixed(1)} MiB in ${event.seconds.toFixed(1)} s`;
    case 'verified':
      return `verified the signature of ${event.name} with key ${event.keyId}`;
    case 'taken-in':
      return `imported version ${event.version} in ${event.seconds.toFixed(1)} s`;
    case 'activated':
      return `serving version ${event.version}${event.previous === null ? '' : ` instead of ${event.previous}`}`;
    case 'export-started':
      return `started export ${event.jobId}`;
    case 'link-renewed':
      return `received a new link to the bundle of ${event.jobId}`;
    case 'turned-off':
      return 'stopped serving: staticExport.enabled is false';
    case 'pruned':
      return `removed ${counted(event.digests.length, 'old release')}`;
    case 'removed':
      return `removed version ${event.version}`;
  }
}

export function logSearchEvent(log: Logger, event: SearchEvent): void {
  const { kind, ...facts } = event;
  if (event.kind === 'failed') logFailure(log, event.step, event.error);
  else if (event.kind === 'refused') {
    log.warn({ event: kind, code: event.error.code }, `${event.error.message}. ${event.error.next ?? ''}`);
  } else if (event.kind === 'rebuilding') {
    // Log a rebuild of the search index as information, because it needs no action. A failed rebuild logs an error.
    if (event.error === null) log.info({ event: kind }, 'building the missing search index');
    else log.info({ event: kind, code: event.error.code }, `rebuilding the search index: ${event.error.message}`);
  } else {
    const amount = event.kind === 'indexed' ? counted(event.sections, 'section') : counted(event.passages, 'passage');
    log.info({ event: kind, ...facts }, `${kind} ${amount}`);
  }
}

/** Logs an event of an export job. Each line contains the job id, because several processes can log lines of the same job. */
export function logJobEvent(log: Logger, event: JobEvent): void {
  if (event.kind === 'fault') {
    logFailure(event.job === null ? log : ofJob(log, event.job), 'export', event.error);
    return;
  }
  const { jobId, domain } = event.job;
  const facts = { event: `job-${event.kind}`, jobId, domain };
  if (event.kind === 'started') {
    log.info({ ...facts, attempt: event.attempt }, `exporting ${domain} (${jobId}, attempt ${event.attempt})`);
  } else if (event.kind === 'completed') {
    const seconds = Math.round(event.tookMs / 100) / 10;
    log.info({ ...facts, seconds }, `exported ${domain} in ${seconds} s (${jobId})`);
  } else if (event.kind === 'left') {
    log.info(facts, `released the export of ${domain} for its next attempt (${jobId})`);
  } else if (event.error.code === 'canceled') {
    log.info(facts, `canceled the export of ${domain} (${jobId})`);
  } else logFailure(ofJob(log, event.job), 'export', event.error);
}

const ofJob = (log: Logger, { jobId, domain }: Job): Logger => log.child({ jobId, domain });

export function logAudit(log: Logger, { at: _, ...line }: AuditLine): void {
  const { action, target, site, result } = line;
  const words = [action, target, site === null ? null : `on ${site}`].filter((word) => word !== null);
  log.info({ event: 'audit', ...line }, `${words.join(' ')}: ${result}`);
}

export function logFailure(log: Logger, step: string, cause: unknown, requestId: string | null = null): void {
  const error = toDocshelfError(cause);
  const facts = {
    event: 'failed',
    step,
    code: error.code,
    ...(error.next === undefined ? {} : { next: error.next }),
    ...(requestId === null ? {} : { requestId }),
  };
  if (error.code === 'internal') log.error({ ...facts, error: error.cause ?? error }, error.message);
  else log.error(facts, error.message);
}
