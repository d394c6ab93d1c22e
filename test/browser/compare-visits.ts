import type { LiveSite } from './live-site.ts';
import type { PageVisit } from './page-visits.ts';

type Visits = ReadonlyMap<string, PageVisit>;

/**
 * Differences between visits of served pages and of live pages. Requests depend on timing, so they are compared over the whole
 * site. Each failed request must also fail on the live site, or belong to a page that the export omitted. Each other host and
 * each console error must also occur on the live site. The text of each page must be equal. @param pages addresses of a limited
 * export. Null means a whole export
 */
export async function differencesOf(
  site: LiveSite,
  live: Visits,
  served: Visits,
  pages: ReadonlySet<string> | null,
): Promise<string[]> {
  const known = { outside: allOf(live, 'outside'), complaints: allOf(live, 'complaints') };
  const brokenLive = await notToAnswer(site, allOf(served, 'failed'), pages);
  const differences: string[] = [];
  for (const [address, { text, failed, outside, complaints }] of served) {
    const more = [
      ...failed.filter((path) => !brokenLive.has(path)).map((path) => `does not get ${path}`),
      ...outside.filter((host) => !known.outside.has(host)).map((host) => `asks ${host}`),
      ...complaints.filter((each) => !known.complaints.has(each)).map((each) => `complains: ${each}`),
    ];
    const liveText = live.get(address)?.text ?? '';
    if (liveText !== text) more.push(`says ${firstDifference(text, liveText)} live`);
    differences.push(...more.map((each) => `${address} ${each}`));
  }
  return differences;
}

/** Hosts outside the site that pages request, sorted. */
export function hostsOutside(visits: Visits): string[] {
  return [...allOf(visits, 'outside')].sort();
}

function allOf(visits: Visits, what: 'failed' | 'outside' | 'complaints'): Set<string> {
  return new Set([...visits.values()].flatMap((visit) => visit[what]));
}

async function notToAnswer(
  { origin }: LiveSite,
  paths: Iterable<string>,
  pages: ReadonlySet<string> | null,
): Promise<Set<string>> {
  const broken = new Set<string>();
  for (const path of paths) {
    const response = await fetch(origin + path);
    await response.arrayBuffer();
    const isPage = response.headers.get('content-type')?.startsWith('text/html') === true;
    if (!response.ok || (isPage && pages?.has(path) === false)) broken.add(path);
  }
  return broken;
}

/** First difference of two texts, with its surroundings. */
function firstDifference(text: string, other: string): string {
  let at = 0;
  while (at < text.length && text[at] === other[at]) at += 1;
  const around = (whole: string): string => JSON.stringify(whole.slice(Math.max(0, at - 40), at + 60));
  return `${around(text)}, and ${around(other)}`;
}
