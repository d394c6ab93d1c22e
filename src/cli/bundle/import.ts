import { randomBytes } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import type { VersionPreview } from '../../app/sites/preview.ts';
import { readStore } from '../../app/slices.ts';
import type { Config, LoadedConfig } from '../../config/index.ts';
import { readText } from '../../config/read-config-file.ts';
import type { Delivered } from '../../deploy/deployment.ts';
import { fetchBundle } from '../../deploy/fetch/fetch.ts';
import { asFolderUser, dataPaths, otherUserOf } from '../../deploy/releases/data-folder.ts';
import { BUNDLE_LINK_FORMS, isBundleLink, isLinkLike } from '../../domain/bundle-link.ts';
import { DocshelfError, errnoState, rethrowAs } from '../../domain/errors.ts';
import { refuseSignatureName, refuseUnfitName, SIGNATURE_EXTENSION } from '../../domain/file-name.ts';
import { linkWithoutSecrets, Secret } from '../../domain/secret.ts';
import { versionFromDigest } from '../../domain/version.ts';
import { ifThere, temporaryFolder } from '../../files/index.ts';
import { operations } from '../../http/admin/operations.ts';
import {
  type ActionOptions,
  actionCommand,
  type CommonOptions,
  type DaemonChoice,
  daemonCommand,
  versionLabel,
  withSite,
} from '../command.ts';
import { type ArchiveInput, commandTarget, type DaemonClient, findDaemon } from '../daemon-client.ts';
import { type ChosenSite, chosenSite, loadOrLastGood, namedSites } from '../load-config.ts';
import { type CommandTarget, ProgressBar, printResult, printTarget, whileInterruptible } from '../output.ts';
import { storedReleaseInfo } from '../stored-versions.ts';

export function bundlePreviewCommand(): Command {
  return withSite(actionCommand('preview', operations.preview, 'docshelf bundle preview 2024-07-15'))
    .argument('<version>', 'Stored version', versionLabel)
    .action(async (version: string, options: ActionOptions) =>
      printResult(options, await previewOf(await loadOrLastGood(options), options, version), ({ link }) => link),
    );
}

/** Without a daemon, creates the preview link with the key in the data folder. @throws DocshelfError `version_not_found` */
async function previewOf(loaded: LoadedConfig, options: ActionOptions, version: string): Promise<VersionPreview> {
  const chosen = await chosenSite(loaded, options);
  const daemon = await findDaemon(chosen, options);
  if (daemon !== null) return (await daemon.call(operations.preview, { parameters: { version } })) as VersionPreview;
  const { config } = chosen;
  const { digest } = await storedReleaseInfo(version, config, 'preview');
  const { domain } = await readStore(config);
  const sites = await namedSites(loaded);
  const site = sites.find((each) => each.domain === domain) ?? sites[0];
  if (site === undefined) throw new Error(`no site "${domain}" in the config`);
  const { previewLink } = await import('../../app/sites/preview.ts');
  return asFolderUser(dataPaths(config.storage.dir), () =>
    previewLink(site, { domain, version, digest }, config.server.port),
  );
}

interface ImportOptions extends ActionOptions {
  readonly version?: string;
  readonly signature?: string;
  readonly activate: boolean;
}

interface ImportRequest {
  readonly fileName: string | null;
  readonly version: string | null;
  /** Text of the signature from the command line. Null uses the file next to the archive, or the configured signature. */
  readonly signature: string | null;
  readonly activate: boolean;
}

const SIGNATURE_BYTES_MAX = 20_000;

const UNNAMED =
  'The archive names no version, so docshelf uses its digest as the label. To choose a label, import the archive again with --version.';

export function bundleImportCommand(): Command {
  return withSite(
    daemonCommand(
      'import',
      'Import an archive from a file, a link, or standard input',
      'kubectl exec -i deploy/docshelf -- docshelf bundle import - --version 2024-06-01 < bundle.tar.gz',
    ),
  )
    .argument('<file>', 'Archive (.tar, .tar.gz, .tar.zst, .zip), link to an archive, or - for standard input')
    .option(
      '--version <version>',
      'Version label of the bundle (default: from its manifest, else from its file name)',
      versionLabel,
    )
    .option('--signature <text>', 'Text of the minisign signature (default: the .minisig file next to the archive)')
    .option('--no-activate', 'Store the bundle, but keep the active version')
    .action(async (file: string, options: ImportOptions) => {
      const loaded = await loadOrLastGood(options);
      const site = await chosenSite(loaded, options);
      const { version = null, signature = null, activate } = options;
      const take = (archive: ArchiveInput, fileName: string | null) =>
        importArchive(site, options, archive, { fileName, version, signature, activate });
      const { delivered, place } = isBundleLink(file)
        ? await fetchArchive(site.config, new Secret(file), (archive, name) => take({ file: archive }, name))
        : await take(await inputOf(file), file === '-' ? null : basename(file));
      const isActive = activate || delivered.activated;
      // Ignore a failure to create the preview link, because the import succeeded. `docshelf bundle preview` reports the reason.
      const preview = isActive ? null : await previewOf(loaded, options, delivered.version).catch(() => null);
      const isHeld = activate && !delivered.activated;
      const isUnnamed = version === null && delivered.version === versionFromDigest(delivered.digest);
      const added = [
        ...(isUnnamed ? [UNNAMED] : []),
        ...(isHeld
          ? ['docshelf did not activate this version, because the config pins another version or turns serving off.']
          : []),
        ...(preview === null ? [] : [`Preview link, valid for one day: ${preview.link}`]),
      ];
      const done = { ...delivered, ...place, ...(preview === null ? {} : { preview }) };
      printResult(options, done, () => [sentenceOf(delivered), ...added].join('\n'));
    });
}

export async function importArchive(
  site: ChosenSite,
  options: DaemonChoice & CommonOptions,
  archive: ArchiveInput,
  request: ImportRequest,
): Promise<{ readonly delivered: Delivered; readonly place: CommandTarget }> {
  if (request.fileName !== null) {
    refuseUnfitName(request.fileName);
    refuseSignatureName(request.fileName);
  }
  const daemon = await findDaemon(site, options);
  const place = commandTarget(daemon, site, options);
  printTarget(options, place);
  const delivered = await (daemon === null
    ? importAlone(site, options, archive, request)
    : upload(daemon, archive, request));
  return { delivered, place };
}

async function importAlone(site: ChosenSite, options: DaemonChoice, archive: ArchiveInput, request: ImportRequest) {
  const delivered = await importHere(site.config, archive, request);
  const { version } = delivered;
  const isDue = delivered.activated || version === site.config.staticExport.version;
  const isActive = isDue && (await activateOnNewDaemon(site, options, version));
  return { ...delivered, activated: delivered.activated || isActive };
}

/**
 * Activates a version on a daemon that started during the command, because it can have read the folder too early.
 * @returns true if there is such a daemon
 */
export async function activateOnNewDaemon(site: ChosenSite, options: DaemonChoice, version: string): Promise<boolean> {
  const daemon = await findDaemon(site, options).catch(() => null);
  await daemon?.call(operations.activate, { parameters: { version } });
  return daemon !== null;
}

async function upload(
  daemon: DaemonClient,
  archive: ArchiveInput,
  { fileName, version, signature, activate }: ImportRequest,
): Promise<Delivered> {
  // The daemon keeps signatures by archive name, so two commands must not use the same name.
  const name = fileName ?? (signature === null ? 'bundle' : `bundle-${randomBytes(4).toString('hex')}`);
  const text = signature ?? ('file' in archive ? await signatureBeside(archive.file) : null);
  const parameters = { fileName: name };
  if (text !== null) await daemon.call(operations.uploadSignature, { parameters, body: text });
  const query = { version, activate: activate ? null : 'false' };
  return (await daemon.call(operations.upload, { parameters, query, body: archive })) as Delivered;
}

async function signatureBeside(file: string): Promise<string | null> {
  const path = file + SIGNATURE_EXTENSION;
  const next = 'Make the signature file readable for docshelf.';
  return ifThere(readText(path, SIGNATURE_BYTES_MAX)).catch(rethrowAs('cannot_read', `read "${path}"`, next));
}

async function importHere(config: Config, archive: ArchiveInput, request: ImportRequest): Promise<Delivered> {
  if ('file' in archive && (await otherUserOf(dataPaths(config.storage.dir))) !== null) {
    // Open the archive and its signature as root, because the user of the data folder may have no access to them.
    const signature = request.signature ?? (await signatureBeside(archive.file));
    await using handle = await open(archive.file);
    const stream = handle.createReadStream({ autoClose: false });
    return await importHere(config, { stream }, { ...request, signature });
  }
  using progress = new ProgressBar();
  const { withCommandShelf } = await import('../../app/index.ts');
  const delivery = { ...request, source: 'import' } as const;
  return await withCommandShelf(config, progress.update, (deployment) =>
    'file' in archive
      ? deployment.deliver({ ...delivery, file: archive.file })
      : deployment.deliverStream(archive.stream, delivery),
  );
}

async function inputOf(file: string): Promise<ArchiveInput> {
  if (file === '-') return { stream: process.stdin };
  if (isLinkLike(file)) {
    const state = `Cannot fetch "${linkWithoutSecrets(file)}": docshelf does not support this kind of link`;
    throw new DocshelfError('usage', state, { next: `Write the link as ${BUNDLE_LINK_FORMS}.` });
  }
  const next = 'Pass a readable archive file, or - for standard input.';
  const info = await stat(file).catch(rethrowAs('cannot_read', `read "${file}"`, next));
  if (info.isFile()) return { file };
  throw new DocshelfError('cannot_read', `Cannot read "${file}": it is not a file`, { next: 'Pass an archive file.' });
}

export function sentenceOf({ version, digest, unpacked, activated, moved }: Delivered): string {
  const taken = unpacked ? 'Imported' : 'Already stored:';
  const state = activated ? 'This version is active now' : 'This version is stored, but not active';
  const former =
    moved === undefined ? '' : ` Until now, this version was the bundle with digest ${moved.slice(0, 12)}.`;
  return `${taken} version ${version} (${digest.slice(0, 12)}). ${state}.${former}`;
}

/**
 * Fetches the archive from a link, and deletes it after `use`.
 * @throws DocshelfError `source_*`, `wrong_digest`, `cannot_write`; errors of `use`
 */
async function fetchArchive<T>(
  config: Config,
  link: Secret,
  use: (file: string, fileName: string | null) => Promise<T>,
): Promise<T> {
  const next = 'Set TMPDIR to a writable folder with enough space for the bundle.';
  await using work = await temporaryFolder(join(tmpdir(), 'docshelf-fetch-')).catch(
    rethrowAs('cannot_write', `fetch a bundle into "${tmpdir()}"`, next, errnoState),
  );
  const { network, staticExport } = config;
  const { openCommandSources } = await import('../../app/index.ts');
  await using opened = await openCommandSources(config);
  using progress = new ProgressBar();
  const name = linkWithoutSecrets(link.reveal());
  const bundleFile = join(work.path, 'bundle');
  const request = {
    link,
    sha256: null,
    spoolDir: work.path,
    bundleFile,
    bundleBytesMax: staticExport.limits.bundleBytesMax,
    retriesMax: network.retries,
    onProgress: (doneBytes: number, totalBytes: number | null) =>
      progress.update({ kind: 'progress', phase: 'fetching', name, doneBytes, totalBytes }),
  };
  const { fileName } = await whileInterruptible('Run the command again.', (signal) =>
    fetchBundle(opened.sources, { ...request, signal }),
  );
  progress.end();
  return await use(bundleFile, fileName);
}
