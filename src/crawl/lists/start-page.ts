import type { CrawlSettings } from '../../domain/crawl.ts';
import { linkWithoutSecrets } from '../../domain/secret.ts';
import { badSource } from '../../domain/site-source.ts';
import { isPageType } from '../ask/answer-type.ts';
import type { Answering } from '../ask/answering.ts';
import { mediaTypeOf } from '../ask/fetched-url.ts';
import type { PageThreads } from '../pages/page-threads.ts';
import { prefixOf, type ScopeSettings } from '../scope.ts';

const REDIRECTS_MAX = 10;

/**
 * Looks where the crawl begins, and what the site is then. A redirect within the host is followed (to https, to a language,
 * to the slash of a folder); the folder stays that of the address in the config, unless it is that folder's slash.
 *
 * Where the page says that it is published at the same path of another host, that host is one of the site too: what is
 * crawled is often a server within, whose pages and sitemaps name the public one.
 *
 * @param hosts full host names of the site
 * @throws DocshelfError `bad_source` where no page of the site is there
 */
export async function findScope(
  { url }: Pick<CrawlSettings, 'url'>,
  hosts: readonly string[],
  answering: Answering,
  threads: PageThreads,
): Promise<ScopeSettings> {
  const start = new URL(url);
  const fail = (
    state: string,
    next = 'Set the url of the source to a page of the site that answers without further ado.',
  ) => badSource(linkWithoutSecrets(url), state, next);
  let at = plain(start);
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const answer = await answering.look(at.href);
    if (answer.kind === 'failed') {
      throw fail(
        `its start page cannot be fetched: ${answer.state}`,
        'Check the url of the source, that the site is up, and that docshelf can reach it: private addresses only where allowAddresses lists them.',
      );
    }
    const { status, location } = answer.fetched;
    if (status === 200) {
      const type = mediaTypeOf(answer.fetched);
      if (type !== '' && !isPageType(type)) throw fail(`its start page is ${type}, and no HTML page`);
      const content = answer.bytes ?? answer.fetched.content;
      const published = content === null ? null : await threads.publishedHost({ url: at.href, content });
      const all = published === null || hosts.includes(published) ? hosts : [...hosts, published];
      return { origin: at.origin, prefix: prefixOf(start), hosts: all };
    }
    if (location === null) throw fail(`its start page answers ${status}`);
    const target = new URL(location);
    const isSameSite = target.hostname === start.hostname || hosts.includes(target.hostname);
    if (!isSameSite || !/^https?:$/.test(target.protocol)) {
      throw fail(
        `it redirects to "${linkWithoutSecrets(location)}", which is another site`,
        'Set the url of the source to the site that is to be exported.',
      );
    }
    at = plain(target);
  }
  throw fail(`its start page leads to over ${REDIRECTS_MAX} redirects`);
}

/** Without what is not sent. */
function plain(url: URL): URL {
  return new URL(`${url.pathname}${url.search}`, url.origin);
}
