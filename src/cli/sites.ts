import type { Command } from 'commander';
import { asFolderUser, dataPaths } from '../deploy/releases/data-folder.ts';
import { SiteStore } from '../deploy/releases/site-store.ts';
import { listSites, removeSite } from '../deploy/releases/stored-sites.ts';
import { DocshelfError } from '../domain/errors.ts';
import { type DaemonFeatures, joinFeatures } from '../domain/feature.ts';
import type { DeployState, StatusReport } from '../domain/status.ts';
import { counted } from '../domain/text.ts';
import {
  type CommonOptions,
  command,
  type DaemonChoice,
  daemonCommand,
  type SiteChoice,
  siteCommand,
} from './command.ts';
import { daemonStatus } from './daemon-client.ts';
import { chosenSite, loadOrLastGood, namedSites } from './load-config.ts';
import { type Columns, listing, printResult, toMiB } from './output.ts';
import { type SiteVersions, siteIn, versionsInFolder, versionsOf } from './stored-versions.ts';

interface SiteRow {
  readonly domain: string;
  readonly title: string | null;
  readonly hosts: readonly string[];
  readonly basePath: string | null;
  readonly state: DeployState | null;
  readonly version: string | null;
  readonly pages: number | null;
  readonly bytes: number;
  /** False if the config no longer contains the site, but its folder exists. */
  readonly configured: boolean;
}

export function sitesCommand(): Command {
  return (
    daemonCommand(
      'sites',
      'List the sites, including sites that left the config but still have a folder',
      'docshelf sites',
    )
      // Options after "remove" belong to the subcommand "remove".
      .enablePositionalOptions()
      .action(async (options: CommonOptions & DaemonChoice) =>
        printResult(options, { sites: await rowsFor(options) }, ({ sites }) => listing(SITE_COLUMNS, sites)),
      )
      .addCommand(removeCommand())
  );
}

function removeCommand(): Command {
  return command(
    'remove',
    'Delete the folder of a site that left the config, and its releases that no other site uses',
    'docshelf sites remove acme',
  )
    .argument('<domain>', 'Domain of the site')
    .action(async (domain: string, options: CommonOptions) => {
      const loaded = await loadOrLastGood(options);
      if ((await namedSites(loaded)).some((site) => site.domain === domain)) {
        throw new DocshelfError('in_use', `Cannot remove site "${domain}": the config contains it`, {
          next: 'Remove the site from "sites" in the config, wait for the reload, and try again.',
        });
      }
      const { dir } = loaded.config.storage;
      const paths = dataPaths(dir);
      const digests = await asFolderUser(paths, () => removeSite(paths, domain));
      printResult(options, { domain, digests }, () => {
        const rest =
          digests.length === 0
            ? ''
            : ` It had ${counted(digests.length, 'release')}. docshelf keeps releases that other sites use.`;
        return `Removed site "${domain}" from "${dir}".${rest}`;
      });
    });
}

async function rowsFor(options: CommonOptions & DaemonChoice): Promise<readonly SiteRow[]> {
  const loaded = await loadOrLastGood(options);
  const { config } = loaded;
  const status = await daemonStatus(config, options);
  if (options.adminUrl !== undefined && status !== null) return rowsOf(status);
  const rows: SiteRow[] = [];
  for (const { domain, title, hosts, basePath, config: own } of await namedSites(loaded)) {
    const state = siteIn(status, domain)?.state ?? null;
    const versions = await versionsOf({ config: own, domain }, status, options);
    rows.push({ domain, title, hosts, basePath, state, ...factsOf(versions), configured: true });
  }
  const known = new Set(rows.map(({ domain }) => domain));
  const paths = dataPaths(config.storage.dir);
  for (const { domain, bytes } of await listSites(paths)) {
    if (known.has(domain)) continue;
    const state = siteIn(status, domain)?.state ?? null;
    const facts = factsOf(await versionsInFolder(new SiteStore(paths, domain), null));
    rows.push({ domain, title: null, hosts: [], basePath: null, state, ...facts, bytes, configured: false });
  }
  return rows;
}

/** Rows from the status of a daemon on another machine, because the command cannot read that machine's folder. */
function rowsOf(status: StatusReport): SiteRow[] {
  const sites = status.sites ?? [{ ...status, title: null, hosts: [], basePath: null }];
  return sites.map(({ deployment, title, hosts, basePath, state, ...versions }) => {
    return { domain: deployment.domain ?? '', title, hosts, basePath, state, ...factsOf(versions), configured: true };
  });
}

function factsOf({ active, versions }: SiteVersions): Pick<SiteRow, 'version' | 'pages' | 'bytes'> {
  const releases = new Map(versions.map((stored) => [stored.digest, stored]));
  const bytes = [...releases.values()].reduce((sum, release) => sum + release.bytes, 0);
  const pages = active === null ? null : (releases.get(active.digest)?.pages ?? null);
  return { version: active?.version ?? null, pages, bytes };
}

const SITE_COLUMNS: Columns<SiteRow> = {
  SITE: ({ domain }) => domain,
  STATE: ({ state, configured }) =>
    [state ?? (configured ? 'no daemon' : ''), configured ? '' : 'left the config'].filter(Boolean).join(', '),
  VERSION: ({ version }) => version ?? '-',
  PAGES: ({ pages }) => String(pages ?? '-'),
  SIZE: ({ bytes }) => toMiB(bytes),
  ADDRESS: ({ hosts, basePath }) =>
    basePath === null ? '-' : (hosts.length === 0 ? ['*'] : hosts).map((host) => host + basePath).join(', '),
  TITLE: ({ title }) => title ?? '',
};

const FEATURE_COLUMNS: Columns<DaemonFeatures['features'][number]> = {
  FEATURE: ({ name }) => name,
  SUPPORT: ({ support }) => support,
  STATE: ({ enabled }) => (enabled ? 'on' : 'off'),
  REASON: ({ reason }) => reason,
};

export function featuresCommand(): Command {
  return siteCommand(
    'features',
    'List the features of this deployment, with their state and the reason',
    'docshelf features',
  ).action(async (options: SiteChoice) => {
    const loaded = await loadOrLastGood(options);
    const { config } = loaded;
    const isOne = config.sites.length === 0 || options.site !== undefined;
    const chosen = isOne ? (await chosenSite(loaded, options)).config : null;
    const { featureReport } = await import('../app/slices.ts');
    const reports = (await namedSites(loaded))
      .filter((site) => chosen === null || site.config === chosen)
      .map((site) => featureReport(site.config, site.domain));
    const [only] = reports;
    const report = isOne && only !== undefined ? only : joinFeatures(config.deployment.type, reports);
    printResult(options, report, featuresText);
  });
}

function featuresText({ deploymentType, domain, features, sites }: DaemonFeatures): string {
  if (sites === undefined) return `${deploymentType} deployment of ${domain}\n\n${listing(FEATURE_COLUMNS, features)}`;
  const rows = sites.flatMap((site) => site.features.map((feature) => ({ site: site.domain, ...feature })));
  const columns = { SITE: ({ site }: { site: string }) => site, ...FEATURE_COLUMNS };
  return `${deploymentType} deployment of ${counted(sites.length, 'site')}\n\n${listing(columns, rows)}`;
}
