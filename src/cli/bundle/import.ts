import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { isBundleLink } from '../../config/formats.ts';
import type { Config } from '../../config/index.ts';
import { stateOf } from '../../config/read-text.ts';
import type { Delivered } from '../../deploy/index.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { linkWithoutSecrets, Secret } from '../../domain/secret.ts';
import { type CommonOptions, command, loadFor, print, printJson } from '../command.ts';
import { type ArchiveInput, askDaemon, type DaemonAction, findDaemon, tellDaemon } from '../daemon-client.ts';
import { ProgressBar } from '../progress-bar.ts';
import { versionLabel } from '../version-label.ts';
import { fetchArchive } from './fetch-archive.ts';

interface ImportOptions extends CommonOptions {
  readonly version?: string;
  readonly signature?: string;
  readonly activate: boolean;
}

/** What was meant as a link: a file of such a name would be named with ./ before it. */
const LINK_LIKE = /^[a-z][a-z0-9+.-]*:\/\//i;

type ImportRequest = Omit<DaemonAction & { action: 'import' }, 'action'>;

export function bundleImportCommand(): Command {
  return command(
    'import',
    'take an archive in: a file, a link, or - for standard input',
    'kubectl exec -i deploy/docshelf -- docshelf bundle import - --version 2024-06-01 < bundle.tar.gz',
  )
    .argument(
      '<file>',
      'the archive (.tar, .tar.gz, .tar.zst, .zip), a link to it (oci://registry/repository:tag), or - for standard input',
    )
    .option(
      '--version <version>',
      "the version it is taken in for (default: its manifest's, else as its name says)",
      versionLabel,
    )
    .option('--signature <text>', "the text of its minisign signature (default: the archive's .minisig beside it)")
    .option('--no-activate', 'only store it')
    .action(async (file: string, options: ImportOptions) => {
      const { config } = await loadFor(options);
      const wanted = {
        version: options.version ?? null,
        signature: options.signature ?? null,
        activate: options.activate,
      };
      const delivered = isBundleLink(file)
        ? await fetchArchive(config, new Secret(file), (archive, fileName) =>
            importArchive(config, { file: archive }, { ...wanted, fileName }),
          )
        : await importArchive(config, await inputOf(file), {
            ...wanted,
            fileName: file === '-' ? null : basename(file),
          });
      if (options.json === true) printJson(delivered);
      else print(sentenceOf(delivered));
    });
}

/** Hands an archive to the daemon that runs on the config's data folder; where none does, works on the folder. */
export async function importArchive(config: Config, archive: ArchiveInput, request: ImportRequest): Promise<Delivered> {
  const daemon = await findDaemon(config);
  if (daemon !== null) return (await askDaemon(config, daemon, { action: 'import', ...request }, archive)) as Delivered;
  const delivered = await importHere(config, archive, request);
  // A daemon announces itself before it looks at the folder: one that was not there before this step sees what was stored.
  const activated = await tellDaemon(config, delivered, request.activate);
  return activated === null ? delivered : { ...delivered, activated };
}

async function importHere(config: Config, archive: ArchiveInput, request: ImportRequest): Promise<Delivered> {
  const progress = new ProgressBar();
  const shelf = await (await import('../../app/index.ts')).openCommandShelf(config, progress.update);
  try {
    const delivery = { ...request, source: 'import' } as const;
    return 'file' in archive
      ? await shelf.deployment.deliver({ ...delivery, file: archive.file })
      : await shelf.deployment.deliverStream(archive.stream, delivery);
  } finally {
    progress.end();
    await shelf.close();
  }
}

async function inputOf(file: string): Promise<ArchiveInput> {
  if (file === '-') return { stream: process.stdin };
  if (LINK_LIKE.test(file)) {
    throw new DocshelfError(
      'usage',
      `Cannot fetch "${linkWithoutSecrets(file)}": it is no link that docshelf follows`,
      {
        next: 'Write it as https://…, http://…, file:///…, or oci://registry/repository:tag (or @sha256:…), the repository in small letters.',
      },
    );
  }
  const info = await stat(file).catch((error: unknown) => {
    throw new DocshelfError('cannot_read', `Cannot read "${file}": ${stateOf(error)}`, {
      next: 'Name an archive that is there and readable, or - for standard input.',
      cause: error,
    });
  });
  if (info.isFile()) return { file };
  throw new DocshelfError('cannot_read', `Cannot read "${file}": it is no file`, { next: 'Name an archive.' });
}

export function sentenceOf({ version, digest, unpacked, activated }: Delivered): string {
  const taken = unpacked ? 'Took in' : 'Already stored:';
  const state = activated ? 'it is the active version now' : 'it is stored and not active';
  return `${taken} version ${version} (${digest.slice(0, 12)}); ${state}.`;
}
