import type { Command } from 'commander';
import type { Config } from '../../config/index.ts';
import type { Deployment, ReleaseRef } from '../../deploy/index.ts';
import { operations } from '../../http/admin/operations.ts';
import { actionCommand, type CommonOptions, type DaemonChoice, group, loadFor, print, printJson } from '../command.ts';
import { type DaemonClient, findDaemon } from '../daemon-client.ts';
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
    actionCommand('activate', operations.activate, 'docshelf bundle activate 2024-06-01')
      .argument('<version>')
      .action((version: string, options: Options) =>
        change(
          options,
          (daemon) => daemon.call(operations.activate, { parameters: { version } }),
          (deployment) => deployment.activate(version),
        ),
      ),
  );
  bundle.addCommand(
    actionCommand('rollback', operations.rollback, 'docshelf bundle rollback').action((options: Options) =>
      change(
        options,
        (daemon) => daemon.call(operations.rollback),
        (deployment) => deployment.rollback(),
      ),
    ),
  );
  bundle.addCommand(
    actionCommand('remove', operations.remove, 'docshelf bundle remove 2024-06-01')
      .argument('<version>')
      .action((version: string, options: Options) =>
        change(
          options,
          (daemon) => daemon.call(operations.remove, { parameters: { version } }),
          async (deployment) => {
            await deployment.remove(version);
            return null;
          },
        ),
      ),
  );
  return bundle;
}

type Options = CommonOptions & DaemonChoice;

/** By the daemon where one runs, else on the folder itself. */
async function change(
  options: Options,
  there: (daemon: DaemonClient) => Promise<unknown>,
  here: (deployment: Deployment) => Promise<ReleaseRef | null>,
): Promise<void> {
  const { config } = await loadFor(options);
  const daemon = await findDaemon(config, options);
  const now = daemon === null ? await changeHere(config, options, here) : ((await there(daemon)) as ReleaseRef | null);
  if (options.json === true) printJson(now ?? { ok: true });
  else print(now === null ? 'Done.' : `Version ${now.version} (${now.digest.slice(0, 12)}) is the active version now.`);
}

/** On the folder itself. A daemon that began meanwhile may have looked at it before, and is asked for the same then. */
async function changeHere(
  config: Config,
  options: Options,
  here: (deployment: Deployment) => Promise<ReleaseRef | null>,
): Promise<ReleaseRef | null> {
  const shelf = await (await import('../../app/index.ts')).openCommandShelf(config, () => undefined);
  let now: ReleaseRef | null;
  try {
    now = await here(shelf.deployment);
  } finally {
    await shelf.close();
  }
  if (now === null) return null;
  const daemon = await findDaemon(config, options).catch(() => null);
  await daemon?.call(operations.activate, { parameters: { version: now.version } });
  return now;
}
