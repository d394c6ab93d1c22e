import { type Command, Option } from 'commander';
import type { OpenExportService, ServiceAddress } from '../../app/export-client.ts';
import type { Config } from '../../config/index.ts';
import { readText } from '../../config/read-config-file.ts';
import { parseDuration } from '../../config/schema-node.ts';
import { DocshelfError, rethrowAs } from '../../domain/errors.ts';
import type { ExportRequest, JobAnswer } from '../../domain/job.ts';
import { Secret } from '../../domain/secret.ts';
import { counted } from '../../domain/text.ts';
import { parserOf, type SiteChoice, siteCommand, versionLabel } from '../command.ts';
import { type ChosenSite, chosenSite, loadOrLastGood } from '../load-config.ts';
import { type ProgressBar, table, whileInterruptible } from '../output.ts';

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
  readonly timeout: number;
}

export function exportSubcommand(name: string, description: string, example: string): Command {
  return siteCommand(name, description, example)
    .option('--api-url <url>', 'URL of the export service (default: staticExport.renew.apiUrl)')
    .option('--key-file <file>', `File with the admin key (default: the key in ${KEY_VARIABLE})`)
    .addOption(new Option('--key <key>').hideHelp());
}

export function startingSubcommand(name: string, description: string, example: string): Command {
  return exportSubcommand(name, description, example)
    .option(
      '--domain <domain>',
      'Site to export (default: staticExport.renew.domain, else the site of --site or of the config)',
    )
    .option('--version <version>', 'Version label of the export', versionLabel)
    .option('--paths <paths...>', 'Paths of the pages to export (default: all pages)');
}

const durationMs = parserOf((text) => parseDuration(text) || null, 'Use a duration such as 90s, 10m, or 2h.');

export function withTimeout(subcommand: Command): Command {
  return subcommand.addOption(
    new Option('--timeout <duration>', 'Maximum time to wait for the export')
      .argParser(durationMs)
      .default(3_600_000, '1h'),
  );
}

export async function withService(
  options: ExportOptions,
  act: (opened: OpenExportService, site: ChosenSite, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (options.key !== undefined) {
    throw new DocshelfError(
      'usage',
      'Cannot use --key: every user of this machine can read the arguments of commands, and the shell stores them',
      { next: `Put the key into a file and pass --key-file, or set the environment variable ${KEY_VARIABLE}.` },
    );
  }
  const site = await siteFor(options);
  const { config } = site;
  const { openExportService } = await import('../../app/export-client.ts');
  await using opened = await openExportService(config, await serviceAddress(options, config, process.env));
  const next =
    'If the job has started, it continues at the export service. To wait for the job, run "docshelf export wait JOB".';
  await whileInterruptible(next, (signal) => act(opened, site, signal));
}

async function siteFor(options: ExportOptions): Promise<ChosenSite> {
  const loaded = await loadOrLastGood(options);
  const isNeeded = loaded.sites.length === 1 || options.site !== undefined || options.into === true;
  return isNeeded ? chosenSite(loaded, options) : { config: loaded.config, domain: null };
}

export function showJob(progress: ProgressBar) {
  return ({ jobId, status, progress: percent, pageCount }: JobAnswer): void =>
    progress.draw(status, percent === null ? null : percent / 100, `${counted(pageCount ?? 0, 'page')}  ${jobId}`);
}

export const asRows = (answered: object): string =>
  table(Object.entries(answered).map(([key, value]) => [key, String(value ?? '')]));

/** @throws DocshelfError `usage` if neither the options nor the config name a site */
export function requestOf(options: StartOptions, config: Config): ExportRequest {
  const { domain, version, paths } = options;
  const site = domain ?? config.staticExport.renew.domain ?? config.deployment.domain;
  if (site !== null && site !== '') return { domain: site, version: version ?? null, paths: paths ?? null };
  throw new DocshelfError('usage', 'Cannot start an export: no site is selected', {
    next: 'Pass the domain of the site, such as --domain acme, or set staticExport.renew.domain in the config.',
  });
}

type AddressOptions = { readonly apiUrl?: string; readonly keyFile?: string };

const KEY_VARIABLE = 'DOCSHELF_API_KEY';

/** Matches keys of visible ASCII characters, because an Authorization header cannot contain other characters. */
const KEY = /^[\x21-\x7e]{1,4096}$/;
const KEY_FILE_BYTES_MAX = 64 * 1024;

/** Sends the configured key only to the configured service. @throws DocshelfError `usage`, `unauthorized`, `cannot_read` */
export async function serviceAddress(
  { apiUrl, keyFile }: AddressOptions,
  config: Config,
  environment: NodeJS.ProcessEnv,
): Promise<ServiceAddress> {
  const { renew } = config.staticExport;
  const url = apiUrl ?? renew.apiUrl;
  if (url === null) {
    throw new DocshelfError('usage', 'Cannot contact the export service: its URL is not configured', {
      next: 'Pass --api-url https://api.example.com, or set staticExport.renew.apiUrl in the config.',
    });
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new DocshelfError('usage', 'Cannot use --api-url: it is not an http or https URL', {
      next: 'Use a URL such as https://api.example.com. docshelf appends /v1/static-export.',
    });
  }
  if (keyFile !== undefined) return { apiUrl: url, key: await keyIn(keyFile) };
  const given = environment[KEY_VARIABLE]?.trim() ?? '';
  if (given !== '') return { apiUrl: url, key: keyOf(given, `the environment variable ${KEY_VARIABLE}`) };
  if (renew.keyFile !== null && apiUrl === undefined) return { apiUrl: url, key: renew.keyFile.text };
  throw new DocshelfError('unauthorized', `Cannot contact ${new URL(url).origin}: no key is given`, {
    next: `Pass the file that contains the admin key with --key-file, or set ${KEY_VARIABLE}.`,
  });
}

async function keyIn(file: string): Promise<Secret> {
  const next = 'Pass the file that contains the admin key with --key-file.';
  const text = await readText(file, KEY_FILE_BYTES_MAX).catch(
    rethrowAs('cannot_read', `read the key file "${file}"`, next),
  );
  return keyOf(text.trim(), `"${file}"`);
}

function keyOf(text: string, place: string): Secret {
  if (KEY.test(text)) return new Secret(text);
  throw new DocshelfError('unauthorized', `Cannot use the key in ${place}: it is not a valid key`, {
    next: 'Use a key of one line of visible ASCII characters, without spaces.',
  });
}
