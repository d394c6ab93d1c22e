import type { Logger } from '../adapters/log.ts';
import type { DeployEvent } from '../deploy/index.ts';
import { toDocshelfError } from '../domain/errors.ts';
import type { SearchEvent } from '../search/index.ts';

/** One line for every change of state, at info; progress is for the terminal and not for the log. */
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

/** A foreseen fault in its own words; one that nobody foresaw with its stack, since that is all there is to go by. */
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
