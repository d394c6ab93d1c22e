import type { Command } from 'commander';
import { DocshelfError } from '../domain/errors.ts';
import type { LastReload } from '../domain/status.ts';
import { operations } from '../http/admin/operations.ts';
import { actionCommand, answer, type CommonOptions, type DaemonChoice, loadFor, loadStrictly } from './command.ts';
import { findDaemons } from './daemon-client.ts';

/** All daemons of this host on the data folder share it, and mostly the config. */
export function reloadCommand(): Command {
  return actionCommand('reload', operations.reload, 'docshelf reload --config config.yaml').action(
    async (options: CommonOptions & DaemonChoice) => {
      await loadStrictly(options);
      // An empty config is no error by itself, but does not name the daemon's folder.
      const { config } = await loadFor(options);
      const daemons = await findDaemons(config, options);
      if (daemons.length === 0) {
        throw new DocshelfError('daemon_unreachable', 'Cannot reload: no daemon runs on this data folder', {
          next: 'Start one with "docshelf serve".',
        });
      }
      const lines: string[] = [];
      const reloads: LastReload[] = [];
      for (const daemon of daemons) {
        const reload = (await daemon.call(operations.reload)) as LastReload;
        reloads.push(reload);
        lines.push(`${daemon.name} took the config at ${reload.at}.`);
      }
      answer(options, reloads.length === 1 ? reloads[0] : reloads, () => lines.join('\n'));
    },
  );
}
