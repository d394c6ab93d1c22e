import { readFile } from 'node:fs/promises';
import type { CrawlNetwork, CrawlSettings } from '../../domain/crawl.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { Fetcher } from '../ports.ts';
import { GuardedFetcher } from './guarded-fetcher.ts';

/** What a header's value may hold (RFC 9110, section 5.5); the config has looked at the files already. */
const HEADER_VALUE = /^[\x20-\x7e]{1,16384}$/;

/**
 * A fetcher for one crawl, with the credentials of its origin as their files hold them now.
 *
 * @param spoolDir an existing folder for bodies that are too large for memory
 * @returns `credentials` tells apart who is asked as whom; it holds secrets and is kept nowhere
 * @throws DocshelfError `bad_source` where a secret cannot be read
 */
export async function openFetcher(
  settings: CrawlSettings,
  network: CrawlNetwork,
  spoolDir: string,
): Promise<{ readonly fetcher: Fetcher; readonly credentials: string }> {
  const headers: Record<string, string> = {};
  if (settings.cookieFile !== null) headers.cookie = await readSecret(settings.cookieFile, settings);
  if (settings.bearerFile !== null) headers.authorization = `Bearer ${await readSecret(settings.bearerFile, settings)}`;
  return {
    fetcher: new GuardedFetcher(settingsOf(settings, network, headers, spoolDir)),
    credentials: JSON.stringify(headers),
  };
}

function settingsOf(
  { url, allowAddresses, concurrency, limits }: CrawlSettings,
  network: CrawlNetwork,
  headers: Readonly<Record<string, string>>,
  spoolDir: string,
) {
  return {
    ...network,
    addresses: { allowPrivate: false, allowAddresses },
    requestTimeoutMs: limits.requestTimeoutMs,
    connectionsMax: concurrency,
    credentials: { origin: new URL(url).origin, headers },
    spoolDir,
  };
}

async function readSecret(file: string, { url }: CrawlSettings): Promise<string> {
  const text = await readFile(file, 'utf8').then(
    (content) => content.trim(),
    () => '',
  );
  if (HEADER_VALUE.test(text)) return text;
  throw new DocshelfError(
    'bad_source',
    `Cannot export "${new URL(url).host}": "${file}" holds no secret that can be sent`,
    {
      next: 'Put the cookie, or the token, on one line into the file that the source names, readable for docshelf.',
    },
  );
}
