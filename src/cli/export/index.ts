import type { Command } from 'commander';
import { group } from '../command.ts';
import { findingsText, ProgressBar, printResult } from '../output.ts';
import { exportPullCommand } from './pull.ts';
import {
  asRows,
  type ExportOptions,
  exportSubcommand,
  requestOf,
  type StartOptions,
  showJob,
  startingSubcommand,
  type WaitingOptions,
  withService,
  withTimeout,
} from './service.ts';

export function exportCommand(): Command {
  return group(
    'export',
    'Export a site with a static export service, and get its bundle',
    'docshelf export pull --api-url https://api.example.com --key-file key --domain acme',
    [startCommand(), statusCommand(), waitCommand(), reportCommand(), bundleLinkCommand(), exportPullCommand()],
  );
}

function startCommand(): Command {
  return startingSubcommand(
    'start',
    'Start an export and print its job',
    'docshelf export start --api-url https://api.example.com --key-file key --domain acme --version v3',
  ).action((options: StartOptions) =>
    withService(options, async ({ service }, { config }, signal) => {
      printResult(options, await service.start(requestOf(options, config), signal), asRows);
    }),
  );
}

function statusCommand(): Command {
  return exportSubcommand('status', 'Print a job', 'docshelf export status se_0123456789abcdef --json')
    .argument('<job-id>', 'Id of the job')
    .action((jobId: string, options: ExportOptions) =>
      withService(options, async ({ service }, _, signal) => {
        printResult(options, await service.status(jobId, signal), asRows);
      }),
    );
}

function waitCommand(): Command {
  return withTimeout(
    exportSubcommand(
      'wait',
      'Wait until a job is completed (exit code 69 if it fails or takes too long)',
      'docshelf export wait se_0123456789abcdef --timeout 10m',
    ),
  )
    .argument('<job-id>', 'Id of the job')
    .action((jobId: string, options: WaitingOptions) =>
      withService(options, async ({ service }, _, signal) => {
        const progress = new ProgressBar();
        const waiting = { timeoutMs: options.timeout, signal, onJob: showJob(progress) };
        const job = await service.wait(jobId, waiting).finally(() => progress.end());
        printResult(options, job, asRows);
      }),
    );
}

function reportCommand(): Command {
  return exportSubcommand(
    'report',
    'Print the findings of a job, such as broken references',
    'docshelf export report se_0123456789abcdef --json',
  )
    .argument('<job-id>', 'Id of the job')
    .action((jobId: string, options: ExportOptions) =>
      withService(options, async ({ service }, _, signal) => {
        printResult(options, await service.report(jobId, signal), (report) => findingsText(`Job ${jobId}`, report));
      }),
    );
}

/** Only this command prints a link, which is a credential. */
function bundleLinkCommand(): Command {
  return exportSubcommand(
    'bundle',
    'Print a new link to the bundle of a completed job (the link is a credential)',
    'docshelf export bundle se_0123456789abcdef --json | jq -r .bundleUrl',
  )
    .argument('<job-id>', 'Id of the job')
    .action((jobId: string, options: ExportOptions) =>
      withService(options, async ({ service }, _, signal) => {
        const { signature, ...bundle } = await service.bundle(jobId, signal);
        const link = { ...bundle, bundleUrl: bundle.bundleUrl.reveal(), ...(signature === null ? {} : { signature }) };
        printResult(options, link, asRows);
      }),
    );
}
