import type { Command } from 'commander';
import { DocshelfError } from '../domain/errors.ts';
import type { LastReload } from '../domain/status.ts';
import { operations } from '../http/admin/operations.ts';
import { actionCommand, type CommonOptions, type DaemonChoice, loadFor, print, printJson } from './command.ts';
import { findDaemons } from './daemon-client.ts';

/** For all daemons of this host on the data folder: they share it, and mostly the config. */
export function reloadCommand(): Command {
  return actionCommand('reload', operations.reload, 'docshelf reload --config config.yaml').action(
    async (options: CommonOptions & DaemonChoice) => {
      const { config } = await loadFor(options);
      const daemons = await findDaemons(config, options);
      if (daemons.length === 0) {
        throw new DocshelfError('daemon_unreachable', 'Cannot reload: no daemon runs on this data folder', {
          next: 'Start one with "docshelf serve".',
        });
      }
      const reloads: LastReload[] = [];
      for (const daemon of daemons) reloads.push((await daemon.call(operations.reload)) as LastReload);
      if (options.json === true) printJson(reloads.length === 1 ? reloads[0] : reloads);
      else for (const [index, { at }] of reloads.entries()) print(`${daemons[index]?.name} took the config at ${at}.`);
    },
  );
}
