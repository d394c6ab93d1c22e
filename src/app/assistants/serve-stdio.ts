import type { SiteConfig } from '../../config/index.ts';
import { type DocshelfError, statusOf } from '../../domain/errors.ts';
import type { ReleaseView } from '../../domain/release.ts';
import { mcpServer } from '../../http/mcp/mcp-server.ts';
import { publicOrigin } from '../../http/site/shelf-address.ts';
import { SiteAssets } from '../../http/site/site-assets.ts';
import { MountedSearch, type Search } from '../../search/index.ts';
import { BodyCache, loadSiteRules, readMarkdown, SiteSnapshot } from '../../serve/index.ts';
import { Network } from '../network.ts';
import { openEngine } from '../open-search.ts';
import { snapshotForm } from '../sites/site-switch.ts';
import { readStore } from '../slices.ts';
import { StoredSearch } from '../stored-search.ts';
import { siteDocumentation } from './site-documentation.ts';
import { SitePages } from './site-pages.ts';
import { stdioSession } from './stdio-session.ts';

export interface StdioOptions {
  readonly site: SiteConfig & { readonly domain: string };
  /** The version that readers get now: asked for each question, since it may change in between. */
  readonly active: () => Promise<ActiveVersion | null>;
  readonly programVersion: string;
}

interface ActiveVersion {
  readonly version: string;
  readonly digest: string;
}

/** Of pages as Markdown: a session reads few, and those again. */
const CACHE_BYTES = 16 * 1024 ** 2;

/**
 * Answers one assistant over standard input and output until its input ends. Standard output carries the protocol alone. The release is
 * read where it lies, with or without a daemon: one that is restarted or swaps in between ends no session.
 */
export async function serveOverStdio({ site, active, programVersion }: StdioOptions): Promise<void> {
  const { config, basePath, hosts, domain } = site;
  const network = new Network(config);
  const engine = openEngine(config, network);
  const stored = new StoredSearch(engine);
  const releases = new ActiveReleases(site, active);
  const search: Search = {
    search: async (request) => {
      const release = await releases.current();
      if (release === null) return { results: [] };
      const { digest, version: label } = release;
      await stored.closeOthers(digest);
      return stored.search({ domain, config, digest, label }, request);
    },
  };
  const documented = {
    domain,
    basePath,
    origin: publicOrigin(config.server.publicUrl, hosts),
    search: config.search.enabled ? new MountedSearch(search, () => basePath) : null,
    get release() {
      return releases.current();
    },
  };
  const bodies = new BodyCache(CACHE_BYTES);
  const documentation = siteDocumentation(documented, {
    pages: new SitePages(),
    readMarkdown: async (release, path) => readMarkdown(await releases.snapshotOf(release), bodies, path),
  });
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
  process.stderr.write(`docshelf: ${error.message}${error.next === undefined ? '' : ` ${error.next}`}\n`);
}

class ActiveReleases {
  readonly #site: SiteConfig;
  readonly #active: StdioOptions['active'];
  #known: { readonly view: ReleaseView; readonly snapshot: Promise<SiteSnapshot> } | null = null;

  constructor(site: SiteConfig, active: StdioOptions['active']) {
    this.#site = site;
    this.#active = active;
  }

  /** @throws DocshelfError `release_damaged` */
  async current(): Promise<ReleaseView | null> {
    const active = await this.#active();
    if (active === null) return null;
    const known = this.#known?.view;
    if (known?.digest === active.digest && known.version === active.version) return known;
    const store = await readStore(this.#site.config);
    const view = await store.view(active.digest, active.version);
    this.#known = { view, snapshot: this.#snapshot(view) };
    return view;
  }

  snapshotOf(release: ReleaseView): Promise<SiteSnapshot> {
    return this.#known?.view === release ? this.#known.snapshot : this.#snapshot(release);
  }

  async #snapshot(view: ReleaseView): Promise<SiteSnapshot> {
    return new SiteSnapshot(view, [], snapshotForm(this.#site, new SiteAssets()), await loadSiteRules(view));
  }
}
