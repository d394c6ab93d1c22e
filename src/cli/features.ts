import type { Command } from 'commander';
import { type DaemonFeatures, joinFeatures } from '../domain/feature.ts';
import { counted } from '../domain/text.ts';
import { answer, chosenSite, command, loadFor, namedSites, type SiteChoice, withSite } from './command.ts';
import { table } from './table.ts';

const HEADER = ['FEATURE', 'SUPPORT', 'NOW', 'REASON'];

export function featuresCommand(): Command {
  const described = command(
    'features',
    'report which features are available in this deployment, and why',
    'docshelf features',
  );
  return withSite(described).action(async (options: SiteChoice) => {
    const loaded = await loadFor(options);
    const { config } = loaded;
    const isOne = config.sites.length === 0 || options.site !== undefined;
    // A wrong domain is told.
    const chosen = isOne ? (await chosenSite(loaded, options)).config : null;
    const { featureReport } = await import('../app/index.ts');
    const reports = (await namedSites(loaded))
      .filter((site) => chosen === null || site.config === chosen)
      .map((site) => featureReport(site.config, site.domain));
    const [only] = reports;
    const report = isOne && only !== undefined ? only : joinFeatures(config.deployment.type, reports);
    answer(options, report, asText);
  });
}

function asText({ deploymentType, domain, features, sites }: DaemonFeatures): string {
  const rowsOf = (each: DaemonFeatures['features']): string[][] =>
    each.map(({ name, support, enabled, reason }) => [name, support, enabled ? 'on' : 'off', reason]);
  if (sites === undefined) {
    return `${deploymentType} deployment of ${domain}\n\n${table([HEADER, ...rowsOf(features)])}`;
  }
  const rows = sites.flatMap((site) => rowsOf(site.features).map((row) => [site.domain, ...row]));
  return `${deploymentType} deployment of ${counted(sites.length, 'site')}\n\n${table([['SITE', ...HEADER], ...rows])}`;
}
