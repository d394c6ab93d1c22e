import type { DeployEvent } from '../deploy/index.ts';
import { toDocshelfError } from '../domain/errors.ts';
import type { JobEvent } from '../export/index.ts';
import type { SearchEvent } from '../search/index.ts';
import type { Logger } from './log.ts';

/** One line a change of state; progress is for the terminal. */
export function logDeployEvent(log: Logger, event: DeployEvent): void {
  switch (event.kind) {
    case 'progress':
      return;
    case 'fetch-started':
      log.info({ event: event.kind, link: event.link }, `fetching ${event.link}`);
      return;
    case 'fetched': {
      const { kind, ...facts } = event;
      log.info({ event: kind, ...facts }, `fetched ${toMiB(event.bytes)} MiB in ${event.seconds.toFixed(1)} s`);
      return;
    }
    case 'verified': {
      const { kind, ...facts } = event;
      log.info({ event: kind, ...facts }, `${event.name} is signed with key ${event.keyId}`);
      return;
    }
    case 'taken-in': {
      const { kind, ...facts } = event;
      log.info({ event: kind, ...facts }, `took in version ${event.version} in ${event.seconds.toFixed(1)} s`);
      return;
    }
    case 'activated': {
      const { kind, ...facts } = event;
      const from = event.previous === null ? '' : ` in place of ${event.previous}`;
      log.info({ event: kind, ...facts }, `serving version ${event.version}${from}`);
      return;
    }
    case 'export-started':
      log.info({ event: event.kind, jobId: event.jobId }, `started the export ${event.jobId}`);
      return;
    case 'link-renewed':
      log.info({ event: event.kind, jobId: event.jobId }, `got a fresh link to the bundle of ${event.jobId}`);
      return;
    case 'turned-off':
      log.info({ event: event.kind }, 'serving is turned off');
      return;
    case 'pruned':
      log.info({ event: event.kind, digests: event.digests }, `removed ${event.digests.length} old releases`);
      return;
    case 'removed':
      log.info({ event: event.kind, version: event.version }, `removed version ${event.version}`);
      return;
    case 'failed':
      logFailure(log, event.step, event.error);
  }
}

export function logSearchEvent(log: Logger, event: SearchEvent): void {
  switch (event.kind) {
    case 'indexed':
      log.info(
        { event: event.kind, sections: event.sections, seconds: event.seconds },
        `indexed ${event.sections} sections`,
      );
      return;
    case 'embedded':
      log.info(
        { event: event.kind, passages: event.passages, seconds: event.seconds },
        `embedded ${event.passages} passages`,
      );
      return;
    case 'rebuilding':
      log.info({ event: event.kind, code: event.error.code }, `building the search index anew: ${event.error.message}`);
      return;
    case 'failed':
      logFailure(log, event.step, event.error);
  }
}

export function logJobEvent(log: Logger, event: JobEvent): void {
  if (event.kind === 'fault') {
    logFailure(log, 'export', event.error);
    return;
  }
  const { jobId, domain } = event.job;
  const facts = { event: `job-${event.kind}`, jobId, domain };
  switch (event.kind) {
    case 'started':
      log.info({ ...facts, attempt: event.attempt }, `exporting ${domain} (${jobId}, attempt ${event.attempt})`);
      return;
    case 'completed': {
      const seconds = Math.round(event.tookMs / 100) / 10;
      log.info({ ...facts, seconds }, `exported ${domain} in ${seconds} s (${jobId})`);
      return;
    }
    case 'left':
      log.info(facts, `left the export of ${domain} to its next attempt (${jobId})`);
      return;
    case 'failed':
      if (event.error.code === 'canceled') log.info(facts, `canceled the export of ${domain} (${jobId})`);
      else logFailure(log, `export ${jobId}`, event.error);
  }
}

/** A foreseen fault by its message; an unforeseen one with its stack. */
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

const toMiB = (bytes: number): string => (bytes / 1024 ** 2).toFixed(1);
