import type { Command } from 'commander';
import type { SearchedVersion } from '../app/stored.ts';
import type { Config } from '../config/index.ts';
import { chooseSite } from '../domain/deployment.ts';
import { DocshelfError } from '../domain/errors.ts';
import { printable } from '../domain/text.ts';
import type { SearchRequest, SearchResult } from '../search/index.ts';
import { type SiteChoice, siteCommand } from './command.ts';
import { daemonStatus } from './daemon-client.ts';
import { type ChosenSite, chosenSite, loadOrLastGood, namedSites } from './load-config.ts';
import { printResult } from './output.ts';
import { versionsOf } from './stored-versions.ts';

const QUERY_CHARACTERS_MAX = 1_000;
const PAGE_SIZE_MAX = 50;
const SNIPPET_CHARACTERS = 160;

interface SearchOptions extends SiteChoice {
  readonly release?: string;
  readonly version?: string;
  readonly language?: string;
  readonly tag?: string;
  readonly limit: string;
}

export function searchCommand(): Command {
  return siteCommand(
    'search',
    'Search the documentation of one site or of all sites, with or without a running daemon',
    'docshelf search "how do I rotate keys" --language en',
  )
    .argument('<query>', 'Words to search for. "quoted words" are a phrase, and -word excludes a word')
    .option('--release <version>', 'Stored version to search (default: the active version)')
    .option(
      '--version <version>',
      'Show only results of this version (a version that pages name, or a kept version that readers may open)',
    )
    .option('--language <language>', 'Show only pages in this language, such as en or pt (pt includes pt-BR)')
    .option('--tag <tag>', 'Show only pages with this tag')
    .option('--limit <number>', `Maximum number of results, from 1 to ${PAGE_SIZE_MAX}`, '10')
    .action(async (query: string, options: SearchOptions) => {
      const request = requestOf(query, options);
      const loaded = await loadOrLastGood(options);
      const isOfOne = loaded.sites.length === 1 || options.site !== undefined || options.release !== undefined;
      const sites = isOfOne ? [await chosenSite(loaded, options)] : loaded.sites;
      const config = (isOfOne ? sites[0] : loaded)?.config ?? loaded.config;
      const versions = await versionsIn(config, sites, options.release ?? null);
      if (versions.length === 0) {
        const { release } = options;
        throw new DocshelfError(
          'version_not_found',
          release === undefined
            ? 'Cannot search: no version is active'
            : `Cannot search version "${release}": it is not stored`,
          { next: 'Pass --release with a version that "docshelf bundle list" shows.' },
        );
      }
      const { searchOnce } = await import('../app/stored.ts');
      const found = await searchOnce(config, versions, request);
      const results = isOfOne ? found.map(({ site: _, ...result }) => result) : found;
      printResult(options, results, () => (found.length === 0 ? 'No results.' : results.map(resultText).join('\n\n')));
    });
}

function requestOf(query: string, { version, language, tag, limit }: SearchOptions): SearchRequest {
  const text = query.trim();
  const pageSize = Number(limit);
  if (text === '' || text.length > QUERY_CHARACTERS_MAX) {
    throw new DocshelfError(
      'usage',
      `Cannot search: the query has ${text.length} characters, and 1 to ${QUERY_CHARACTERS_MAX} are allowed`,
    );
  }
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > PAGE_SIZE_MAX)
    throw new DocshelfError('usage', `Cannot search: --limit must be a whole number from 1 to ${PAGE_SIZE_MAX}`);
  const filter = { version: version ?? null, language: language ?? null, tag: tag ?? null };
  return { query: text, pageSize, scoreThreshold: null, filter, prefixLast: false };
}

async function versionsIn(config: Config, sites: readonly ChosenSite[], release: string | null) {
  const status = await daemonStatus(config, {}, sites.length === 1 ? (sites[0]?.domain ?? null) : null);
  const versions: SearchedVersion[] = [];
  for (const { config: own, domain } of sites) {
    const { active, versions: stored } = await versionsOf({ config: own, domain }, status, {});
    const version = release === null ? active : stored.find((each) => each.version === release);
    if (version == null) continue;
    versions.push({
      domain: domain ?? '',
      config: own,
      digest: version.digest,
      label: version.version,
      isActive: release === null,
    });
  }
  return versions;
}

function resultText({ content, path, metadata, ...of }: SearchResult & { readonly site?: string }): string {
  const place = [
    ...(of.site === undefined ? [] : [of.site]),
    metadata.title,
    ...metadata.headings.filter((heading) => heading !== metadata.title),
  ].join(' › ');
  const line = content.replace(/\s+/g, ' ');
  // Remove half of a surrogate pair, which `slice` can leave at the end.
  const cut = line.slice(0, SNIPPET_CHARACTERS).replace(/[\ud800-\udbff]$/, '');
  const snippet = line.length > SNIPPET_CHARACTERS ? `${cut}…` : line;
  const lines = [`${metadata.score.toFixed(2)}  ${place}`, `      ${path}`, `      ${snippet}`];
  return lines.map((each) => printable(each)).join('\n');
}

export function mcpCommand(programVersion: string): Command {
  return siteCommand(
    'mcp',
    'Serve the documentation to an assistant on this machine (Model Context Protocol over standard input and output)',
    'docshelf mcp --config config.yaml --site acme',
  ).action(async (options: SiteChoice) => {
    const loaded = await loadOrLastGood(options);
    const site = chooseSite(await namedSites(loaded), options.site ?? null, 'the config');
    const { config } = site;
    const domain = loaded.config.sites.length > 0 ? site.domain : null;
    const active = async () => {
      const status = await daemonStatus(config, {}, domain);
      return (await versionsOf({ config, domain }, status, {})).active;
    };
    const { serveOverStdio } = await import('../app/assistants/serve-stdio.ts');
    await serveOverStdio({ site, active, programVersion });
  });
}
