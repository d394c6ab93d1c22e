import { existsSync, watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { archiveLimits } from '../app/slices.ts';
import { loadConfig } from '../config/index.ts';
import { temporaryFolder } from '../files/index.ts';
import { importArchive } from './bundle/import.ts';
import { type CommonOptions, command, portNumber } from './command.ts';
import { stopSignal } from './daemon.ts';
import { chosenSite, loadOrLastGood } from './load-config.ts';
import { findingsText, ProgressBar, printResult, ReportedFailure, reportFailure } from './output.ts';

interface FolderOptions extends CommonOptions {
  readonly kind?: 'folder' | 'markdown';
}

const WORK = join(tmpdir(), 'docshelf-');
/** Time between the first change of a folder and the next export, because editors can write several files for one change. */
const SETTLE_MS = 200;
/** Kinds of findings that make `docshelf check` fail. Other kinds, such as requests to other hosts, are only reported. */
const BROKEN: readonly string[] = ['broken_reference', 'missing_fragment'];

export function checkCommand(): Command {
  return folderCommand(
    'check',
    'Check a folder of HTML or Markdown like an export does (exit code 65 if references are broken)',
    'docshelf check ./docs',
  ).action(async (folder: string, options: FolderOptions) => {
    await using work = await temporaryFolder(WORK);
    const { report } = await exported(folder, options, work.path);
    printResult(options, report, () => findingsText(folder, report));
    if (BROKEN.some((kind) => kind in report.counts)) throw new ReportedFailure();
  });
}

export function previewCommand(programVersion: string): Command {
  return folderCommand(
    'preview',
    'Serve a folder of HTML or Markdown on this machine, and update the pages when files change',
    'docshelf preview ./docs --port 8080',
  )
    .addOption(new Option('--port <port>', 'Port on 127.0.0.1').argParser(portNumber).default(8080))
    .action(async (folder: string, options: FolderOptions & { readonly port: number }) => {
      await using work = await temporaryFolder(WORK);
      await preview(folder, options, work.path, programVersion);
    });
}

function folderCommand(name: string, description: string, example: string): Command {
  return command(name, description, example)
    .argument('<folder>', 'Folder of the built site or of Markdown files')
    .addOption(
      new Option(
        '--kind <kind>',
        'Kind of the folder (default: folder if it contains an index.html, else markdown)',
      ).choices(['folder', 'markdown']),
    );
}

async function preview(
  folder: string,
  options: FolderOptions & { readonly port: number },
  workDir: string,
  programVersion: string,
): Promise<void> {
  const flags = {
    'storage.dir': join(workDir, 'data'),
    'staticExport.enabled': true,
    'staticExport.keep': 1,
    'server.host': '127.0.0.1',
    'server.port': options.port,
    'admin.port': 0,
    'api.port': 0,
    'search.widget': true,
    'search.model': 'off',
    'log.level': 'error',
  };
  const sources = { file: null, env: {}, cwd: workDir, flags };
  const loaded = await loadConfig(sources);
  const site = await chosenSite(loaded, {});
  const publish = async (round: number) => {
    await using roundWork = await temporaryFolder(join(workDir, 'round-'));
    const { files, siteDir, report } = await exported(folder, options, roundWork.path);
    const { packBundle, archiveOrder } = await import('../archive/pack.ts');
    const archive = join(roundWork.path, 'bundle.tar.gz');
    const entries = files.map((file) => ({ ...file, file: join(siteDir, file.path) })).sort(archiveOrder);
    await packBundle({ entries, to: archive, level: 1 });
    const request = { fileName: null, version: `preview-${round}`, signature: null, activate: true };
    await importArchive(site, { json: true }, { file: archive }, request);
    return report;
  };

  const stopped = stopSignal();
  let changed = Promise.withResolvers<true>();
  // Watch the folder before the first export, so that no change is lost. If the folder is missing, `publish` reports the error.
  const watcher = existsSync(folder) ? watch(folder, { recursive: true }, () => changed.resolve(true)) : null;
  let report = await publish(1);
  const { startDaemon } = await import('../app/index.ts');
  const { daemon, stop } = await startDaemon({ loaded, sources, onProgress: () => undefined, programVersion });
  const show = () => printResult(options, report, () => findingsText(`Preview at ${daemon.siteUrl}/`, report));
  try {
    await daemon.firstAttempt;
    show();
    for (let round = 2; await Promise.race([changed.promise, stopped]); round += 1) {
      await sleep(SETTLE_MS);
      changed = Promise.withResolvers();
      try {
        report = await publish(round);
        show();
      } catch (error) {
        reportFailure(error, options.json === true);
      }
    }
  } finally {
    watcher?.close();
    await stop();
  }
}

async function exported(folder: string, options: FolderOptions, workDir: string) {
  const limits = archiveLimits((await loadOrLastGood(options)).config);
  const path = resolve(folder);
  const names = await readdir(path).catch((): string[] => []);
  const { exportFolder } = await import('../export/jobs/steps.ts');
  const source = { kind: options.kind ?? (names.includes('index.html') ? 'folder' : 'markdown'), path } as const;
  using progress = new ProgressBar();
  const draw = (done: number, total: number) => progress.draw('reading', done / Math.max(1, total), folder);
  const { signal } = new AbortController();
  const { pages, found, ...site } = await exportFolder(source, workDir, limits, draw, signal);
  return { ...site, report: { pages, counts: found.counts, findings: found.listed } };
}
