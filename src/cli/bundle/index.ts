import type { Command } from 'commander';
import type { Config } from '../../config/index.ts';
import type { Deployment, ReleaseRef } from '../../deploy/index.ts';
import { type CommonOptions, command, group, loadFor, print, printJson } from '../command.ts';
import { askDaemon, type DaemonAction, findDaemon } from '../daemon-client.ts';
import { bundleAuditCommand } from './audit.ts';
import { bundleImportCommand } from './import.ts';
import { bundleInspectCommand } from './inspect.ts';
import { bundleListCommand } from './list.ts';
import { bundleVerifyCommand } from './verify.ts';

export function bundleCommand(): Command {
  const bundle = group('bundle', 'take bundles in, list them, choose the one that is served', 'docshelf bundle list');
  bundle.addCommand(bundleImportCommand());
  bundle.addCommand(bundleListCommand());
  bundle.addCommand(bundleInspectCommand());
  bundle.addCommand(bundleVerifyCommand());
  bundle.addCommand(bundleAuditCommand());
  bundle.addCommand(
    command('activate', 'serve a stored version', 'docshelf bundle activate 2024-06-01')
      .argument('<version>')
      .action((version: string, options: CommonOptions) =>
        change(options, { action: 'activate', version }, (deployment) => deployment.activate(version)),
      ),
  );
  bundle.addCommand(
    command('rollback', 'serve what was active before; again, further back', 'docshelf bundle rollback').action(
      (options: CommonOptions) => change(options, { action: 'rollback' }, (deployment) => deployment.rollback()),
    ),
  );
  bundle.addCommand(
    command('remove', 'take a stored version away', 'docshelf bundle remove 2024-06-01')
      .argument('<version>')
      .action((version: string, options: CommonOptions) =>
        change(options, { action: 'remove', version }, async (deployment) => {
          await deployment.remove(version);
          return null;
        }),
      ),
  );
  return bundle;
}

/** By the daemon where one runs, else on the folder itself. */
async function change(
  options: CommonOptions,
  request: DaemonAction,
  here: (deployment: Deployment) => Promise<ReleaseRef | null>,
): Promise<void> {
  const { config } = await loadFor(options);
  const daemon = await findDaemon(config);
  const now =
    daemon === null
      ? await changeHere(config, here)
      : ((await askDaemon(config, daemon, request, null)) as ReleaseRef | null);
  if (options.json === true) printJson(now ?? { ok: true });
  else print(now === null ? 'Done.' : `Version ${now.version} (${now.digest.slice(0, 12)}) is the active version now.`);
}

/** On the folder itself. A daemon that began meanwhile may have looked at it before, and is asked for the same then. */
async function changeHere(
  config: Config,
  here: (deployment: Deployment) => Promise<ReleaseRef | null>,
): Promise<ReleaseRef | null> {
  const shelf = await (await import('../../app/index.ts')).openCommandShelf(config, () => undefined);
  let now: ReleaseRef | null;
  try {
    now = await here(shelf.deployment);
  } finally {
    await shelf.close();
  }
  const daemon = now === null ? null : await findDaemon(config);
  if (now !== null && daemon !== null)
    await askDaemon(config, daemon, { action: 'activate', version: now.version }, null);
  return now;
}
