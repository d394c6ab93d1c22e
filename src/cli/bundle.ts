import type { Command } from 'commander';
import type { DaemonRequest, Deployment } from '../deploy/index.ts';
import type { Builders } from './builders.ts';
import { bundleImportCommand } from './bundle-import.ts';
import { bundleInspectCommand } from './bundle-inspect.ts';
import { bundleListCommand } from './bundle-list.ts';
import { type CommonOptions, command, group, loadFor, print, printJson } from './command.ts';
import { askDaemon, findDaemon } from './daemon-client.ts';

export function bundleCommand(builders: Builders): Command {
  const bundle = group('bundle', 'take bundles in, list them, choose the one that is served', 'docshelf bundle list');
  bundle.addCommand(bundleImportCommand(builders));
  bundle.addCommand(bundleListCommand());
  bundle.addCommand(bundleInspectCommand());
  bundle.addCommand(
    command('activate', 'serve a stored version', 'docshelf bundle activate 2024-06-01')
      .argument('<version>')
      .action((version: string, options: CommonOptions) =>
        change(builders, options, { action: 'activate', version }, (deployment) => deployment.activate(version)),
      ),
  );
  bundle.addCommand(
    command('rollback', 'serve what was active before; again, further back', 'docshelf bundle rollback').action(
      (options: CommonOptions) =>
        change(builders, options, { action: 'rollback' }, (deployment) => deployment.rollback()),
    ),
  );
  bundle.addCommand(
    command('remove', 'take a stored version away', 'docshelf bundle remove 2024-06-01')
      .argument('<version>')
      .action((version: string, options: CommonOptions) =>
        change(builders, options, { action: 'remove', version }, async (deployment) => {
          await deployment.remove(version);
          return null;
        }),
      ),
  );
  return bundle;
}

/** By the daemon where one runs, else on the folder itself. */
async function change(
  builders: Builders,
  options: CommonOptions,
  request: DaemonRequest,
  here: (deployment: Deployment) => Promise<unknown>,
): Promise<void> {
  const { config } = await loadFor(options);
  const daemon = await findDaemon(config);
  let result: unknown;
  if (daemon === null) {
    const shelf = await builders.openShelf(config, () => undefined);
    try {
      result = await here(shelf.deployment);
    } finally {
      await shelf.close();
    }
  } else {
    result = await askDaemon(config, daemon, request, null);
  }
  const now = result as { readonly version: string; readonly digest: string } | null;
  if (options.json === true) printJson(now ?? { ok: true });
  else print(now === null ? 'Done.' : `Version ${now.version} (${now.digest.slice(0, 12)}) is the active version now.`);
}
