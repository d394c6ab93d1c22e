import type { Command } from 'commander';
import { chooseSite } from '../domain/deployment.ts';
import { command, loadFor, namedSites, type SiteChoice, withSite } from './command.ts';
import { daemonStatus } from './daemon-client.ts';
import { versionsOf } from './site-versions.ts';

export function mcpCommand(programVersion: string): Command {
  return withSite(
    command(
      'mcp',
      'answer an assistant on this machine (Model Context Protocol) over standard input and output, with or without a daemon',
      'docshelf mcp --config config.yaml --site acme',
    ),
  ).action(async (options: SiteChoice) => {
    const loaded = await loadFor(options);
    const site = chooseSite(await namedSites(loaded), options.site ?? null, 'the config');
    const { config } = site;
    const domain = loaded.config.sites.length > 0 ? site.domain : null;
    const active = async () => {
      const status = await daemonStatus(config, {}, domain);
      return (await versionsOf({ config, domain }, status, {})).active;
    };
    const { serveOverStdio } = await import('../app/index.ts');
    await serveOverStdio({ site, active, programVersion });
  });
}
