import type { Command } from 'commander';
import type { OpenExportService } from '../../app/export-client.ts';
import { group } from '../command.ts';
import { findingsText, ProgressBar, printResult } from '../output.ts';
import { exportPullCommand } from './pull.ts';
import {
  asRows,
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

const statusCommand = () =>
  jobCommand(
    'status',
    'Print a job',
    'docshelf export status se_0123456789abcdef --json',
    ({ service }, jobId, signal) => service.status(jobId, signal),
  );

function waitCommand(): Command {
  return withTimeout(
    jobCommand(
      'wait',
      'Wait until a job is completed (exit code 69 if it fails or takes too long)',
      'docshelf export wait se_0123456789abcdef --timeout 10m',
      async ({ service }, jobId, signal, options) => {
        using progress = new ProgressBar();
        return service.wait(jobId, { timeoutMs: options.timeout, signal, onJob: showJob(progress) });
      },
    ),
  );
}

const reportCommand = () =>
  jobCommand(
    'report',
    'Print the findings of a job, such as broken references',
    'docshelf export report se_0123456789abcdef --json',
    ({ service }, jobId, signal) => service.report(jobId, signal),
    (report, jobId) => findingsText(`Job ${jobId}`, report),
  );

/** The only export command that prints the link of a bundle is `bundle`, because the link is a credential. */
const bundleLinkCommand = () =>
  jobCommand(
    'bundle',
    'Print a new link to the bundle of a completed job (the link is a credential)',
    'docshelf export bundle se_0123456789abcdef --json | jq -r .bundleUrl',
    async ({ service }, jobId, signal) => {
      const { signature, ...bundle } = await service.bundle(jobId, signal);
      return { ...bundle, bundleUrl: bundle.bundleUrl.reveal(), ...(signature === null ? {} : { signature }) };
    },
  );

function jobCommand<T extends object>(
  name: string,
  description: string,
  example: string,
  act: (opened: OpenExportService, jobId: string, signal: AbortSignal, options: WaitingOptions) => Promise<T>,
  inWords: (result: T, jobId: string) => string = asRows,
): Command {
  return exportSubcommand(name, description, example)
    .argument('<job-id>', 'Id of the job')
    .action((jobId: string, options: WaitingOptions) =>
      withService(options, async (opened, _, signal) => {
        printResult(options, await act(opened, jobId, signal, options), (result) => inWords(result, jobId));
      }),
    );
}
