import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { Deployment, ReleaseRef } from '../../deploy/index.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { Operation } from '../../domain/operation.ts';
import { operations } from '../../http/admin/operations.ts';
import { type ActionOptions, actionCommand, daemonCommand, group, versionLabel, withSite } from '../command.ts';
import { commandTarget, daemonStatus, findDaemon } from '../daemon-client.ts';
import { type ChosenSite, chosenSite, loadOrLastGood, loadSite } from '../load-config.ts';
import { type Columns, listing, printResult, printTarget, toMiB } from '../output.ts';
import { listedSites, type SiteVersions, versionsOf } from '../stored-versions.ts';
import { bundleAuditCommand } from './audit.ts';
import { bundleDiffCommand } from './diff.ts';
import { activateOnNewDaemon, bundleImportCommand, bundlePreviewCommand } from './import.ts';
import { bundleInspectCommand, bundleVerifyCommand } from './verify.ts';

type ChangeHere = (deployment: Deployment) => Promise<unknown>;

export function bundleCommand(): Command {
  const { activate, rollback, remove } = operations;
  return group('bundle', 'Import, list, check, and activate bundles', 'docshelf bundle list', [
    bundleImportCommand(),
    bundleListCommand(),
    bundleInspectCommand(),
    bundleVerifyCommand(),
    bundleAuditCommand(),
    bundleDiffCommand(),
    bundlePreviewCommand(),
    withSite(actionCommand('activate', activate, 'docshelf bundle activate 2024-06-01'))
      .argument('<version>', 'Stored version', versionLabel)
      .action((version: string, options: ActionOptions) =>
        change(options, activate, { version }, (deployment) => deployment.activate(version)),
      ),
    withSite(actionCommand('rollback', rollback, 'docshelf bundle rollback')).action((options: ActionOptions) =>
      change(options, rollback, {}, (deployment) => deployment.rollback()),
    ),
    withSite(actionCommand('remove', remove, 'docshelf bundle remove 2024-06-01'))
      .argument('<version>', 'Stored version', versionLabel)
      .action((version: string, options: ActionOptions) =>
        change(options, remove, { version }, (deployment) => deployment.remove(version)),
      ),
  ]);
}

async function change(
  options: ActionOptions,
  operation: Pick<Operation, 'method' | 'path'>,
  parameters: Readonly<Record<string, string>>,
  here: ChangeHere,
): Promise<void> {
  const site = await loadSite(options);
  const daemon = await findDaemon(site, options);
  const place = commandTarget(daemon, site, options);
  printTarget(options, place);
  const now = daemon === null ? await changeHere(site, options, here) : await daemon.call(operation, { parameters });
  printResult(options, { ...((now ?? { ok: true }) as ReleaseRef | { ok: true }), ...place }, (done) =>
    'ok' in done
      ? `Removed version ${parameters.version}.`
      : `Version ${done.version} (${done.digest.slice(0, 12)}) is the active version now.`,
  );
}

async function changeHere(site: ChosenSite, options: ActionOptions, here: ChangeHere): Promise<ReleaseRef | null> {
  const { dir } = site.config.storage;
  // Check first whether the data folder exists, because `withCommandShelf` would create it.
  if (!existsSync(dir)) {
    throw new DocshelfError('cannot_read', `Cannot change versions in "${dir}": there is no such folder`, {
      next: 'Run the command again with the config of the daemon (--config FILE), or in the folder of its config.yaml.',
    });
  }
  const { withCommandShelf } = await import('../../app/index.ts');
  const now = ((await withCommandShelf(site.config, () => undefined, here)) ?? null) as ReleaseRef | null;
  if (now !== null) await activateOnNewDaemon(site, options, now.version);
  return now;
}

/**
 * Columns of a list of versions. All members of a row are optional, because a list of several sites has a row for a site without
 * a version.
 */
export const VERSION_COLUMNS: Columns<Partial<ReturnType<typeof listedVersions>[number]>> = {
  VERSION: ({ version = '-' }) => version,
  STATE: ({ isActive, isPinned }) => [isActive ? 'active' : '', isPinned ? 'pinned' : ''].filter(Boolean).join(', '),
  PAGES: ({ pages = '' }) => String(pages),
  SIZE: ({ bytes }) => (bytes === undefined ? '' : toMiB(bytes)),
  CREATED: ({ createdAt = '' }) => createdAt.slice(0, 10),
  SOURCE: ({ source = '' }) => source,
  DIGEST: ({ digest = '' }) => digest.slice(0, 12),
};

function bundleListCommand(): Command {
  const description = 'List the stored versions of one site, or of all sites';
  return withSite(daemonCommand('list', description, 'docshelf bundle list')).action(listVersions);
}

async function listVersions(options: ActionOptions): Promise<void> {
  const loaded = await loadOrLastGood(options);
  const status = await daemonStatus(loaded.config, options, options.site ?? null);
  const all = options.site === undefined ? listedSites(loaded, status, options) : null;
  if (all === null) {
    const site = await chosenSite(loaded, options);
    printResult(options, await versionsOf(site, status, options), versionsText);
    return;
  }
  const sites: (SiteVersions & { domain: string })[] = [];
  for (const site of all) sites.push({ domain: site.domain ?? '', ...(await versionsOf(site, status, options)) });
  printResult(options, { sites }, () => {
    const rows = sites.flatMap(({ domain, ...versions }) => {
      const own = listedVersions(versions);
      return own.length === 0 ? [{ domain }] : own.map((version) => ({ domain, ...version }));
    });
    return listing({ SITE: ({ domain }: { domain: string }) => domain, ...VERSION_COLUMNS }, rows);
  });
}

function versionsText(site: SiteVersions): string {
  return site.versions.length === 0 ? 'No version is stored.' : listing(VERSION_COLUMNS, listedVersions(site));
}

function listedVersions({ active, pinned, versions }: SiteVersions) {
  return versions.map((known) => ({
    ...known,
    isActive: known.version === active?.version,
    isPinned: known.version === pinned,
  }));
}
