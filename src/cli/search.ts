import type { Command } from 'commander';
import { readStore } from '../app/slices.ts';
import { DocshelfError } from '../domain/errors.ts';
import type { SearchRequest, SearchResult } from '../search/index.ts';
import { answer, type ChosenSite, command, loadSite, type SiteChoice, withSite } from './command.ts';
import { siteStatus } from './site-versions.ts';

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
  return withSite(
    command(
      'search',
      'search the documentation, with or without a daemon',
      'docshelf search "how do I rotate keys" --language en',
    ),
  )
    .argument('<query>', 'what to look for; "quoted words" are a phrase, -word leaves out')
    .option('--release <version>', 'the stored version to search (default: the active one)')
    .option('--version <version>', 'only pages of that version of the documentation')
    .option('--language <language>', 'only that language: en, pt (also finds pt-BR)')
    .option('--tag <tag>', 'only pages with that tag')
    .option('--limit <number>', `1 to ${PAGE_SIZE_MAX}`, '10')
    .action(async (query: string, options: SearchOptions) => {
      const request = requestOf(query, options);
      const site = await loadSite(options);
      const { config } = site;
      const label = options.release ?? (await activeVersion(site));
      const store = await readStore(config);
      const pointer = label === null ? null : await store.label(label).catch(() => null);
      if (label === null || pointer === null) {
        throw new DocshelfError(
          'version_not_found',
          `Cannot search ${label === null ? 'the active version: none is' : `version "${label}": it is not stored`}`,
          { next: 'Name a version that "docshelf bundle list" shows by --release.' },
        );
      }
      const { searchOnce } = await import('../app/index.ts');
      const results = await searchOnce(config, { digest: pointer.digest, label }, request);
      answer(options, results, () => (results.length === 0 ? 'Nothing found.' : results.map(asText).join('\n\n')));
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
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > PAGE_SIZE_MAX) {
    throw new DocshelfError('usage', `Cannot search: --limit takes a whole number from 1 to ${PAGE_SIZE_MAX}`);
  }
  const filter = { version: version ?? null, language: language ?? null, tag: tag ?? null };
  return { query: text, pageSize, scoreThreshold: null, filter, prefixLast: false };
}

/** Without a daemon, the version that a start would serve. */
async function activeVersion(site: ChosenSite): Promise<string | null> {
  const { config } = site;
  const served = (await siteStatus(site, {}))?.active?.version;
  if (served !== undefined) return served;
  if (config.staticExport.version !== null) return config.staticExport.version;
  const store = await readStore(config);
  return (await store.active())?.version ?? null;
}

function asText({ content, path, metadata }: SearchResult): string {
  const place = [metadata.title, ...metadata.headings.filter((heading) => heading !== metadata.title)].join(' › ');
  const line = content.replace(/\s+/g, ' ');
  const snippet = line.length > SNIPPET_CHARACTERS ? `${line.slice(0, SNIPPET_CHARACTERS)}…` : line;
  return `${metadata.score.toFixed(2)}  ${place}\n      ${path}\n      ${snippet}`;
}
