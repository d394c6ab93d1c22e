import type { Command } from 'commander';
import { dataPaths, expectedDomain } from '../deploy/index.ts';
import { DEFAULT_DOMAIN } from '../domain/deployment.ts';
import { type CommonOptions, command, loadFor, print, printJson } from './command.ts';
import { table } from './table.ts';

export function featuresCommand(): Command {
  return command(
    'features',
    'report which features are available in this deployment, and why',
    'docshelf features',
  ).action(async (options: CommonOptions) => {
    const { config } = await loadFor(options);
    const domain = (await expectedDomain(dataPaths(config.storage.dir), config.deployment.domain)) ?? DEFAULT_DOMAIN;
    const report = (await import('../app/index.ts')).featureReport(config, domain);
    if (options.json === true) return printJson(report);
    print(`${report.deploymentType} deployment of ${report.domain}\n`);
    const rows = report.features.map((feature) => [
      feature.name,
      feature.support,
      feature.enabled ? 'on' : 'off',
      feature.reason,
    ]);
    print(table([['FEATURE', 'SUPPORT', 'NOW', 'REASON'], ...rows]));
  });
}
