import type { Command } from 'commander';
import { dataPaths, expectedDomain } from '../deploy/index.ts';
import { DEFAULT_DOMAIN } from '../domain/deployment.ts';
import { answer, type CommonOptions, command, loadFor } from './command.ts';
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
    answer(options, report, ({ deploymentType, features }) => {
      const rows = features.map((each) => [each.name, each.support, each.enabled ? 'on' : 'off', each.reason]);
      return `${deploymentType} deployment of ${domain}\n\n${table([['FEATURE', 'SUPPORT', 'NOW', 'REASON'], ...rows])}`;
    });
  });
}
