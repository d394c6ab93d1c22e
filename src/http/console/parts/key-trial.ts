import { EXPORTING_PLAN, type KeyType, type Organization } from '../../../domain/organization.ts';
import type { JobBoard } from '../../job-desk.ts';
import { type ConsoleVisit, call } from '../visit.ts';
import { shelfSites } from './shelf-sites.ts';

/** A call of the API that a key of the organization works for; or why there is none, with what to do. */
export type KeyTrial =
  | { readonly address: string; readonly body: object; readonly missing: null }
  | { readonly missing: string };

export async function keyTrial(visit: ConsoleVisit, organization: Organization, type: KeyType): Promise<KeyTrial> {
  const { apiUrl } = visit.parts.service();
  if (apiUrl === null) return { missing: 'The API listener is off: search.enabled or exportApi.enabled turns it on.' };
  const base = `${apiUrl.replace(/\/+$/, '')}/v1`;
  return type === 'admin' ? exportTrial(visit, organization, base) : searchTrial(visit, organization, base);
}

async function exportTrial(visit: ConsoleVisit, { id, plan, sites }: Organization, base: string): Promise<KeyTrial> {
  if (plan !== EXPORTING_PLAN)
    return { missing: `The plan of ${id} has no static exports: only ${EXPORTING_PLAN} has.` };
  const board = await call(visit, 'listJobs');
  if (board.problem !== null) return { missing: [board.problem.error, board.problem.next].join('. ') };
  const { domains } = board.value as JobBoard;
  const site = sites.find(({ domain }) => domains.includes(domain));
  if (site === undefined)
    return { missing: `No domain of ${id} has a source: give one of them its source in the config.` };
  return { address: `${base}/static-export/jobs`, body: { domain: site.domain }, missing: null };
}

async function searchTrial(visit: ConsoleVisit, { id, sites }: Organization, base: string): Promise<KeyTrial> {
  const served = shelfSites(await visit.parts.status());
  const searched = served.filter(({ search }) => search !== null && search.keyword !== 'off');
  const site = sites.find(({ domain }) => searched.some(({ deployment }) => deployment.domain === domain));
  if (site === undefined)
    return { missing: `No domain of ${id} is searched here: serve its site, with search.enabled.` };
  return { address: `${base}/search/${site.domain}`, body: { query: 'getting started', pageSize: 5 }, missing: null };
}
