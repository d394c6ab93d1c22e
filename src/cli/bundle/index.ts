import type { Command } from 'commander';
import type { Deployment, ReleaseRef } from '../../deploy/index.ts';
import type { Operation } from '../../domain/operation.ts';
import { operations } from '../../http/admin/operations.ts';
import {
  actionCommand,
  answer,
  type ChosenSite,
  type DaemonChoice,
  group,
  loadSite,
  namePlace,
  type SiteChoice,
  withSite,
} from '../command.ts';
import { findDaemon, placeOf } from '../daemon-client.ts';
import { bundleAuditCommand } from './audit.ts';
import { bundleDiffCommand } from './diff.ts';
import { bundleImportCommand } from './import.ts';
import { bundleInspectCommand } from './inspect.ts';
import { bundleListCommand } from './list.ts';
import { bundlePreviewCommand } from './preview.ts';
import { bundleVerifyCommand } from './verify.ts';

export function bundleCommand(): Command {
  const { activate, rollback, remove } = operations;
  return group('bundle', 'take bundles in, list them, choose the one that is served', 'docshelf bundle list', [
    bundleImportCommand(),
    bundleListCommand(),
    bundleInspectCommand(),
    bundleVerifyCommand(),
    bundleAuditCommand(),
    bundleDiffCommand(),
    bundlePreviewCommand(),
    withSite(actionCommand('activate', activate, 'docshelf bundle activate 2024-06-01'))
      .argument('<version>')
      .action((version: string, options: Options) =>
        change(options, activate, { version }, (deployment) => deployment.activate(version)),
      ),
    withSite(actionCommand('rollback', rollback, 'docshelf bundle rollback')).action((options: Options) =>
      change(options, rollback, {}, (deployment) => deployment.rollback()),
    ),
    withSite(actionCommand('remove', remove, 'docshelf bundle remove 2024-06-01'))
      .argument('<version>')
      .action((version: string, options: Options) =>
        change(options, remove, { version }, (deployment) => deployment.remove(version)),
      ),
  ]);
}

type Options = SiteChoice & DaemonChoice;
type ChangeHere = (deployment: Deployment) => Promise<unknown>;

/** By the daemon where one runs, else on the folder itself. */
async function change(
  options: Options,
  operation: Pick<Operation, 'method' | 'path'>,
  parameters: Readonly<Record<string, string>>,
  here: ChangeHere,
): Promise<void> {
  const site = await loadSite(options);
  const daemon = await findDaemon(site, options);
  const place = placeOf(daemon, site, options);
  namePlace(options, place);
  const now = daemon === null ? await changeHere(site, options, here) : await daemon.call(operation, { parameters });
  answer(options, { ...((now ?? { ok: true }) as ReleaseRef | { ok: true }), ...place }, (done) =>
    'ok' in done
      ? `Removed version ${parameters.version}.`
      : `Version ${done.version} (${done.digest.slice(0, 12)}) is the active version now.`,
  );
}

/** A daemon that began meanwhile may have looked at the folder before, and is asked for the same. */
async function changeHere(site: ChosenSite, options: Options, here: ChangeHere): Promise<ReleaseRef | null> {
  const shelf = await (await import('../../app/index.ts')).openCommandShelf(site.config, () => undefined);
  let now: ReleaseRef | null;
  try {
    now = ((await here(shelf.deployment)) ?? null) as ReleaseRef | null;
  } finally {
    await shelf.close();
  }
  if (now === null) return null;
  const daemon = await findDaemon(site, options).catch(() => null);
  await daemon?.call(operations.activate, { parameters: { version: now.version } });
  return now;
}
