import type { Command } from 'commander';
import type { Config } from '../../config/index.ts';
import { SiteStore, storedVersions } from '../../deploy/index.ts';
import { errnoOf } from '../../domain/errors.ts';
import type { StoredVersion } from '../../domain/status.ts';
import { type CommonOptions, type DaemonChoice, daemonCommand, loadFor, print, printJson } from '../command.ts';
import { daemonStatus } from '../daemon-client.ts';
import { table, toMiB } from '../table.ts';

/** The part of `GET /v1/status` that is about versions. */
interface VersionsAnswer {
  readonly active: { readonly version: string; readonly digest: string } | null;
  readonly pinned: string | null;
  readonly versions: readonly StoredVersion[];
}

export function bundleListCommand(): Command {
  return daemonCommand('list', 'list the stored versions', 'docshelf bundle list').action(
    async (options: CommonOptions & DaemonChoice) => {
      const { config } = await loadFor(options);
      const answer = await versionsOf(config, options);
      if (options.json === true) printJson(answer);
      else print(answer.versions.length === 0 ? 'No version is stored.' : asTable(answer));
    },
  );
}

/** As the running daemon says; without one, as the folder does. */
async function versionsOf(config: Config, options: DaemonChoice): Promise<VersionsAnswer> {
  const status = await daemonStatus(config, options);
  if (status !== null) {
    const { active, pinned, versions } = status;
    return { active, pinned, versions };
  }
  const store = await SiteStore.read(config.storage.dir, config.deployment.domain);
  const pinned = config.staticExport.version;
  const versions = await storedVersions(store).catch((error: unknown): StoredVersion[] => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
  const pointer = pinned === null ? await store.active() : await store.label(pinned);
  const version = pinned ?? (await store.active())?.version;
  const active = pointer === null || version === undefined ? null : { version, digest: pointer.digest };
  return { active, pinned, versions };
}

function asTable({ active, pinned, versions }: VersionsAnswer): string {
  const rows = versions.map((known) => [
    known.version,
    [known.version === active?.version ? 'active' : '', known.version === pinned ? 'pinned' : '']
      .filter(Boolean)
      .join(', '),
    String(known.pages),
    toMiB(known.bytes),
    known.createdAt.slice(0, 10),
    known.source,
    known.digest.slice(0, 12),
  ]);
  return table([['VERSION', 'STATE', 'PAGES', 'SIZE', 'CREATED', 'FROM', 'DIGEST'], ...rows]);
}
