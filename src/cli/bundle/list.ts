import type { Command } from 'commander';
import {
  answer,
  chosenSite,
  type DaemonChoice,
  daemonCommand,
  loadFor,
  type SiteChoice,
  withSite,
} from '../command.ts';
import { daemonStatus } from '../daemon-client.ts';
import { listedSites, type SiteVersions, versionsOf } from '../site-versions.ts';
import { table, toMiB } from '../table.ts';

const HEADER = ['VERSION', 'STATE', 'PAGES', 'SIZE', 'CREATED', 'FROM', 'DIGEST'];

export function bundleListCommand(): Command {
  const described = daemonCommand(
    'list',
    'list the stored versions, of all sites where none is named',
    'docshelf bundle list',
  );
  return withSite(described).action(listVersions);
}

async function listVersions(options: SiteChoice & DaemonChoice): Promise<void> {
  const loaded = await loadFor(options);
  const status = await daemonStatus(loaded.config, options, options.site ?? null);
  const all = options.site === undefined ? listedSites(loaded, status, options) : null;
  if (all === null) {
    const site = await chosenSite(loaded, options);
    answer(options, await versionsOf(site, status, options), asText);
    return;
  }
  const sites: (SiteVersions & { domain: string })[] = [];
  for (const site of all) sites.push({ domain: site.domain ?? '', ...(await versionsOf(site, status, options)) });
  answer(options, { sites }, () => {
    const rows = sites.flatMap(({ domain, ...versions }) => {
      const own = rowsOf(versions);
      return own.length === 0 ? [[domain, '-']] : own.map((row) => [domain, ...row]);
    });
    return table([['SITE', ...HEADER], ...rows]);
  });
}

function asText(site: SiteVersions): string {
  return site.versions.length === 0 ? 'No version is stored.' : table([HEADER, ...rowsOf(site)]);
}

function rowsOf({ active, pinned, versions }: SiteVersions): string[][] {
  return versions.map((known) => [
    known.version,
    [known.version === active?.version ? 'active' : '', known.version === pinned ? 'pinned' : '']
      .filter(Boolean)
      .join(', '),
    String(known.pages),
    toMiB(known.bytes),
    known.createdAt.slice(0, 10),
    known.source,
    known.digest.slice(0, 12),
  ]);
}
