import type { CrawlSettings } from '../domain/crawl.ts';
import { badSource } from '../domain/site-source.ts';
import type { Crawl } from './crawl.ts';

/** More than one page in ten that the server fails to give, and at least so many: the export would have holes. */
const FAULTS_MIN = 3;
const FAULT_SHARE_MAX = 0.1;

/** @throws DocshelfError `bad_source` where too little of the site could be fetched */
export function checkShare({ counts }: Pick<Crawl, 'counts'>, { url }: CrawlSettings): void {
  const { asked, faults, pages } = counts;
  if (faults < FAULTS_MIN && pages > 0) return;
  if (pages > 0 && faults <= asked * FAULT_SHARE_MAX) return;
  const state =
    pages === 0
      ? 'no page of it could be fetched'
      : `${faults} of ${asked} pages could not be fetched, since the site answers with errors or not at all`;
  throw badSource(
    url,
    state,
    'Look at the log of the site; where it cannot take so many requests, lower concurrency in the source or set its rate.',
  );
}
