import type { Command } from 'commander';
import type { Config } from '../../config/index.ts';
import { SiteStore, storedVersions } from '../../deploy/index.ts';
import type { StatusReport } from '../../domain/status.ts';
import { ifThere } from '../../files/index.ts';
import { answer, type CommonOptions, type DaemonChoice, daemonCommand, loadFor } from '../command.ts';
import { daemonStatus } from '../daemon-client.ts';
import { table, toMiB } from '../table.ts';

interface VersionsAnswer extends Pick<StatusReport, 'pinned' | 'versions'> {
  readonly active: { readonly version: string; readonly digest: string } | null;
}

export function bundleListCommand(): Command {
  return daemonCommand('list', 'list the stored versions', 'docshelf bundle list').action(
    async (options: CommonOptions & DaemonChoice) => {
      const { config } = await loadFor(options);
      answer(options, await versionsOf(config, options), asText);
    },
  );
}

async function versionsOf(config: Config, options: DaemonChoice): Promise<VersionsAnswer> {
  const status = await daemonStatus(config, options);
  if (status !== null) {
    const { active, pinned, versions } = status;
    return { active, pinned, versions };
  }
  const store = await SiteStore.read(config.storage.dir, config.deployment.domain);
  const pinned = config.staticExport.version;
  const versions = (await ifThere(storedVersions(store))) ?? [];
  const pointer = pinned === null ? await store.active() : await store.label(pinned);
  const version = pinned ?? (await store.active())?.version;
  const active = pointer === null || version === undefined ? null : { version, digest: pointer.digest };
  return { active, pinned, versions };
}

function asText({ active, pinned, versions }: VersionsAnswer): string {
  if (versions.length === 0) return 'No version is stored.';
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
