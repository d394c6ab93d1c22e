import type { Command } from 'commander';
import { group, print, printJson, versionLabel } from '../command.ts';
import { ProgressBar } from '../progress-bar.ts';
import { table } from '../table.ts';
import {
  domainOf,
  type ExportOptions,
  exportSubcommand,
  printJob,
  showJob,
  type WaitingOptions,
  withService,
  withTimeout,
} from './command.ts';
import { exportPullCommand } from './pull.ts';

interface StartOptions extends ExportOptions {
  readonly domain?: string;
  readonly version?: string;
  readonly paths?: readonly string[];
}

export function exportCommand(): Command {
  const exports = group(
    'export',
    'have a static export service export a site, and get its bundle',
    'docshelf export pull --api-url https://api.example.com --key-file key --domain acme',
  );
  exports.addCommand(startCommand());
  exports.addCommand(statusCommand());
  exports.addCommand(waitCommand());
  exports.addCommand(bundleLinkCommand());
  exports.addCommand(exportPullCommand());
  return exports;
}

function startCommand(): Command {
  return exportSubcommand(
    'start',
    'start an export, and print its job',
    'docshelf export start --api-url https://api.example.com --key-file key --domain acme --version v3',
  )
    .option('--domain <domain>', 'the site (default: staticExport.renew.domain, else deployment.domain)')
    .option('--version <version>', 'label of the export', versionLabel)
    .option('--paths <paths...>', 'only these pages')
    .action((options: StartOptions) =>
      withService(options, async ({ service }, config, signal) => {
        const request = {
          domain: domainOf(options, config),
          version: options.version ?? null,
          paths: options.paths ?? null,
        };
        printJob(await service.start(request, signal), options.json === true);
      }),
    );
}

function statusCommand(): Command {
  return exportSubcommand('status', 'print a job', 'docshelf export status se_0123456789abcdef --json')
    .argument('<job-id>')
    .action((jobId: string, options: ExportOptions) =>
      withService(options, async ({ service }, _, signal) => {
        printJob(await service.status(jobId, signal), options.json === true);
      }),
    );
}

function waitCommand(): Command {
  return withTimeout(
    exportSubcommand(
      'wait',
      'wait until a job is completed; ends with 69 where it failed or takes too long',
      'docshelf export wait se_0123456789abcdef --timeout 10m',
    ),
  )
    .argument('<job-id>')
    .action((jobId: string, options: WaitingOptions) =>
      withService(options, async ({ service }, _, signal) => {
        const progress = new ProgressBar();
        const waiting = { timeoutMs: options.timeout, signal, onJob: showJob(progress) };
        const job = await service.wait(jobId, waiting).finally(() => progress.end());
        printJob(job, options.json === true);
      }),
    );
}

/** The link is what is asked for here, so it is printed; nowhere else is it. */
function bundleLinkCommand(): Command {
  return exportSubcommand(
    'bundle',
    'print a fresh link to the bundle of a completed job; the link is a credential',
    'docshelf export bundle se_0123456789abcdef --json | jq -r .bundleUrl',
  )
    .argument('<job-id>')
    .action((jobId: string, options: ExportOptions) =>
      withService(options, async ({ service }, _, signal) => {
        const { signature, ...bundle } = await service.bundle(jobId, signal);
        const answer = {
          ...bundle,
          bundleUrl: bundle.bundleUrl.reveal(),
          ...(signature === null ? {} : { signature }),
        };
        if (options.json === true) printJson(answer);
        else print(table(Object.entries(answer).map(([key, value]) => [key, String(value ?? '')])));
      }),
    );
}
