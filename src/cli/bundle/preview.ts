import type { Command } from 'commander';
import { previewLink, type VersionPreview } from '../../app/sites/preview.ts';
import { readStore } from '../../app/slices.ts';
import type { LoadedConfig } from '../../config/index.ts';
import { operations } from '../../http/admin/operations.ts';
import { actionCommand, type DaemonChoice, type SiteChoice, withSite } from '../command.ts';
import { findDaemon } from '../daemon-client.ts';
import { chosenSite, loadOrLastGood, namedSites } from '../load-config.ts';
import { printResult } from '../output.ts';
import { storedReleaseInfo } from '../stored-versions.ts';

type Options = SiteChoice & DaemonChoice;

export function bundlePreviewCommand(): Command {
  return withSite(actionCommand('preview', operations.preview, 'docshelf bundle preview 2024-07-15'))
    .argument('<version>', 'Stored version')
    .action(async (version: string, options: Options) =>
      printResult(options, await previewOf(await loadOrLastGood(options), options, version), ({ link }) => link),
    );
}

/** Requests the link from the running daemon. Without one, signs it with the key in the folder. @throws DocshelfError `version_not_found` */
export async function previewOf(loaded: LoadedConfig, options: Options, version: string): Promise<VersionPreview> {
  const chosen = await chosenSite(loaded, options);
  const daemon = await findDaemon(chosen, options);
  if (daemon !== null) return (await daemon.call(operations.preview, { parameters: { version } })) as VersionPreview;
  const { config } = chosen;
  const { digest } = await storedReleaseInfo(version, config, 'preview');
  const { domain } = await readStore(config);
  const sites = await namedSites(loaded);
  const site = sites.find((each) => each.domain === domain) ?? sites[0];
  if (site === undefined) throw new Error(`no site "${domain}" in the config`);
  return previewLink(site, { domain, version, digest }, config.server.port);
}
