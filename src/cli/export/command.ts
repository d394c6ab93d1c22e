import { type Command, Option } from 'commander';
import type { OpenExportService } from '../../app/export-client.ts';
import type { Config } from '../../config/index.ts';
import { parseDuration } from '../../config/schema-node.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { ExportRequest, JobAnswer } from '../../domain/job.ts';
import { counted } from '../../domain/text.ts';
import {
  type ChosenSite,
  chosenSite,
  command,
  loadFor,
  parserOf,
  type SiteChoice,
  versionLabel,
  withSite,
} from '../command.ts';
import type { ProgressBar } from '../progress-bar.ts';
import { table } from '../table.ts';
import { type AddressOptions, KEY_VARIABLE, serviceAddress } from './address.ts';

export interface ExportOptions extends SiteChoice, AddressOptions {
  readonly key?: string;
  readonly into?: boolean;
}

export interface StartOptions extends ExportOptions {
  readonly domain?: string;
  readonly version?: string;
  readonly paths?: readonly string[];
}

export interface WaitingOptions extends ExportOptions {
  /** Milliseconds. */
  readonly timeout: number;
}

export function exportSubcommand(name: string, description: string, example: string): Command {
  return withSite(command(name, description, example))
    .option('--api-url <url>', 'the export service (default: staticExport.renew.apiUrl)')
    .option('--key-file <file>', `file with the admin key (default: ${KEY_VARIABLE} in the environment)`)
    .addOption(new Option('--key <key>').hideHelp());
}

export function startingSubcommand(name: string, description: string, example: string): Command {
  return exportSubcommand(name, description, example)
    .option(
      '--domain <domain>',
      'the site that is exported (default: staticExport.renew.domain, else that of --site or of the config)',
    )
    .option('--version <version>', 'label of the export', versionLabel)
    .option('--paths <paths...>', 'only these pages');
}

const durationMs = parserOf((text) => parseDuration(text) || null, 'It is a duration such as 90s, 10m or 2h.');

export function withTimeout(subcommand: Command): Command {
  return subcommand.addOption(
    new Option('--timeout <duration>', 'how long to wait for the export')
      .argParser(durationMs)
      .default(3_600_000, '1h'),
  );
}

/** Ctrl-C and SIGTERM end the act in order. */
export async function withService(
  options: ExportOptions,
  act: (opened: OpenExportService, site: ChosenSite, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (options.key !== undefined) {
    throw new DocshelfError(
      'usage',
      'Cannot take the key as an argument: everybody on this machine can read the arguments of its processes, and the shell keeps them',
      { next: `Put it into a file and name that with --key-file, or into the environment variable ${KEY_VARIABLE}.` },
    );
  }
  const site = await siteFor(options);
  const { config } = site;
  const opened = await (await import('../../app/export-client.ts')).openExportService(
    config,
    await serviceAddress(options, config, process.env),
  );
  const abort = new AbortController();
  const interrupt = (): void => abort.abort(interrupted());
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, interrupt);
  try {
    await act(opened, site, abort.signal);
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, interrupt);
    await opened.close();
  }
}

/** A service of exports needs none of our sites; what is imported does. */
async function siteFor(options: ExportOptions): Promise<ChosenSite> {
  const loaded = await loadFor(options);
  const isNeeded = loaded.sites.length === 1 || options.site !== undefined || options.into === true;
  return isNeeded ? chosenSite(loaded, options) : { config: loaded.config, domain: null };
}

export function showJob(progress: ProgressBar) {
  return ({ jobId, status, progress: percent, pageCount }: JobAnswer): void =>
    progress.draw(status, percent === null ? null : percent / 100, `${counted(pageCount ?? 0, 'page')}  ${jobId}`);
}

export function asRows(answered: object): string {
  return table(Object.entries(answered).map(([key, value]) => [key, String(value ?? '')]));
}

function interrupted(): DocshelfError {
  return new DocshelfError('stopping', 'Cannot go on: the command was interrupted', {
    next: 'A job that was started goes on at the service: take it up again with its id.',
  });
}

/** @throws DocshelfError `usage` where nothing says of which site. */
export function requestOf(options: StartOptions, config: Config): ExportRequest {
  const { domain, version, paths } = options;
  const site = domain ?? config.staticExport.renew.domain ?? config.deployment.domain;
  if (site !== null && site !== '') return { domain: site, version: version ?? null, paths: paths ?? null };
  throw new DocshelfError('usage', 'Cannot start an export: nothing says of which site', {
    next: 'Name its domain with --domain acme, or set staticExport.renew.domain in the config.',
  });
}
