import type { SiteConfig } from '../../config/index.ts';
import type { ReleaseRef } from '../../deploy/index.ts';
import { type DocshelfError, statusOf } from '../../domain/errors.ts';
import { printable } from '../../domain/text.ts';
import { mcpServer } from '../../http/mcp/mcp-server.ts';
import { publicOrigin } from '../../http/site/shelf-address.ts';
import type { Search } from '../../search/index.ts';
import { BodyCache } from '../../serve/index.ts';
import { openEngine } from '../open-search.ts';
import { openNetwork } from '../stored/open-network.ts';
import { StoredSearch } from '../stored/stored-search.ts';
import { StoredVersions } from '../stored/stored-versions.ts';
import { siteDocumentation } from './site-documentation.ts';
import { SitePages } from './site-pages.ts';
import { stdioSession } from './stdio-session.ts';

export interface StdioOptions {
  readonly site: SiteConfig & { readonly domain: string };
  /** The version that readers get now: asked for each question, since it may change in between. */
  readonly active: () => Promise<ReleaseRef | null>;
  readonly programVersion: string;
}

/** Of pages as Markdown: a session reads few, and those again. */
const CACHE_BYTES = 16 * 1024 ** 2;

/**
 * Answers one assistant over standard input and output until its input ends. Standard output carries the protocol alone. The release is
 * read where it lies, with or without a daemon: one that is restarted or swaps in between ends no session.
 */
export async function serveOverStdio({ site, active, programVersion }: StdioOptions): Promise<void> {
  const { config, basePath, hosts, domain } = site;
  const network = await openNetwork(config);
  const engine = openEngine(config, network);
  const stored = new StoredSearch(engine);
  const search: Search = {
    search: async (request) => {
      const current = await active();
      if (current === null) return { results: [] };
      const { digest, version: label } = current;
      await stored.closeOthers();
      return stored.search({ domain, config, digest, label, isActive: true }, request);
    },
  };
  const documented = {
    domain,
    basePath,
    origin: publicOrigin(config.server.publicUrl, hosts),
    search: config.search.enabled ? search : null,
    versions: new StoredVersions(site, active),
  };
  const parts = { pages: new SitePages(), bodies: new BodyCache(CACHE_BYTES) };
  const documentation = siteDocumentation(documented, parts);
  try {
    await stdioSession(() => mcpServer({ site: documentation, programVersion, onFault: tellFault }));
  } finally {
    await engine.stop();
    await network.close();
  }
}

/** The assistant's own mistakes are told to it alone. */
function tellFault(error: DocshelfError): void {
  if (statusOf(error.code) < 500) return;
  process.stderr.write(`${printable(`docshelf: ${error.message} ${error.next ?? ''}`).trimEnd()}\n`);
}
