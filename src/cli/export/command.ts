import { type Command, InvalidArgumentError, Option } from 'commander';
import type { OpenExportService } from '../../app/export-client.ts';
import type { Config } from '../../config/index.ts';
import { parseDuration } from '../../config/units.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { JobAnswer } from '../../domain/job.ts';
import { type CommonOptions, command, loadFor, print, printJson } from '../command.ts';
import type { ProgressBar } from '../progress-bar.ts';
import { table } from '../table.ts';
import { type AddressOptions, KEY_VARIABLE, serviceAddress } from './address.ts';

/** Common to the export commands: address and key of the service, waiting, and how a job is shown. */

export interface ExportOptions extends CommonOptions, AddressOptions {
  readonly key?: string;
}

export interface WaitingOptions extends ExportOptions {
  /** Milliseconds. */
  readonly timeout: number;
}

export const WAIT_MS_DEFAULT = 3_600_000;

export function exportSubcommand(name: string, description: string, example: string): Command {
  return command(name, description, example)
    .option('--api-url <url>', 'the export service (default: staticExport.renew.apiUrl)')
    .option('--key-file <file>', `file with the admin key (default: ${KEY_VARIABLE} in the environment)`)
    .addOption(new Option('--key <key>').hideHelp());
}

export function withTimeout(subcommand: Command): Command {
  return subcommand.addOption(
    new Option('--timeout <duration>', 'how long to wait for the export')
      .argParser(durationMs)
      .default(WAIT_MS_DEFAULT, '1h'),
  );
}

/** Opens the service, does something with it, and closes it whatever happens. Ctrl-C and SIGTERM end the work in order. */
export async function withService(
  options: ExportOptions,
  act: (opened: OpenExportService, config: Config, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (options.key !== undefined) throw keyAsArgument();
  const { config } = await loadFor(options);
  const opened = await (await import('../../app/export-client.ts')).openExportService(
    config,
    await serviceAddress(options, config, process.env),
  );
  const abort = new AbortController();
  const interrupt = (): void => abort.abort(interrupted());
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, interrupt);
  try {
    await act(opened, config, abort.signal);
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, interrupt);
    await opened.close();
  }
}

/** A progress bar's line for each look at a job. */
export function showJob(progress: ProgressBar) {
  return ({ jobId, status, progress: percent, pageCount }: JobAnswer): void =>
    progress.draw(status, percent === null ? null : percent / 100, `${pageCount ?? 0} pages  ${jobId}`);
}

export function printJob(job: JobAnswer, isJson: boolean): void {
  if (isJson) printJson(job);
  else print(table(Object.entries(job).map(([key, value]) => [key, String(value ?? '')])));
}

function durationMs(text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms === 0) throw new InvalidArgumentError('It is a duration such as 90s, 10m or 2h.');
  return ms;
}

function keyAsArgument(): DocshelfError {
  return new DocshelfError(
    'usage',
    'Cannot take the key as an argument: everybody on this machine can read the arguments of its processes, and the shell keeps them',
    { next: `Put it into a file and name that with --key-file, or into the environment variable ${KEY_VARIABLE}.` },
  );
}

function interrupted(): DocshelfError {
  return new DocshelfError('stopping', 'Cannot go on: the command was interrupted', {
    next: 'A job that was started goes on at the service: take it up again with its id.',
  });
}

/** The site that is meant. @throws DocshelfError `usage` where nothing says. */
export function domainOf({ domain }: { readonly domain?: string }, config: Config): string {
  const meant = domain ?? config.staticExport.renew.domain ?? config.deployment.domain;
  if (meant !== null && meant !== '') return meant;
  throw new DocshelfError('usage', 'Cannot start an export: nothing says of which site', {
    next: 'Name its domain with --domain acme, or set staticExport.renew.domain in the config.',
  });
}
