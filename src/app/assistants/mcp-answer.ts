import type { SiteConfig } from '../../config/index.ts';
import type { FaultHooks } from '../../http/problem.ts';
import { publicOrigin } from '../../http/site/site-routes.ts';
import type { AnswerSiteSearch } from '../../http/site/site-search.ts';
import type { Search } from '../../search/index.ts';
import type { BodyCache } from '../../site/index.ts';
import { once } from '../../threads/once.ts';
import type { DocumentedVersions } from './site-documentation.ts';

interface McpAnswerOptions extends FaultHooks {
  readonly site: { readonly domain: string; readonly config: SiteConfig; readonly search: Search | null };
  readonly versions: DocumentedVersions;
  readonly bodies: BodyCache;
  readonly programVersion: string;
}

/** Loads the code with the first request, because it takes 0.2 s of processor time. */
export function mcpAnswer(options: McpAnswerOptions): AnswerSiteSearch {
  const answer = once(() => open(options));
  return async (request, env) => (await answer())(request, env);
}

async function open({ site, versions, bodies, ...hooks }: McpAnswerOptions): Promise<AnswerSiteSearch> {
  const [{ mcpEndpoint: mcpDoor }, { siteDocumentation }] = await Promise.all([
    import('../../http/mcp/mcp-endpoint.ts'),
    import('./site-documentation.ts'),
  ]);
  const documented = {
    get domain() {
      return site.domain;
    },
    get basePath() {
      return site.config.basePath;
    },
    get origin() {
      return publicOrigin(site.config.config.server.publicUrl, site.config.hosts);
    },
    get search() {
      return site.search;
    },
    versions,
  };
  return mcpDoor({
    ...hooks,
    site: siteDocumentation(documented, bodies),
    place: () => ({ publicUrl: site.config.config.server.publicUrl, hosts: site.config.hosts }),
    trustedProxies: site.config.config.server.trustedProxies,
  });
}
