import { Command, InvalidArgumentError } from 'commander';
import {
  type Config,
  ConfigError,
  hasNoSettings,
  type LoadedConfig,
  type LoadOptions,
  loadConfig,
  type SiteConfig,
} from '../config/index.ts';
import { dataPaths, expectedDomain } from '../deploy/index.ts';
import { chooseSite, DEFAULT_DOMAIN } from '../domain/deployment.ts';
import { DocshelfError, exitCodeOf, toDocshelfError } from '../domain/errors.ts';
import type { Operation } from '../domain/operation.ts';
import { counted, printable, printableJson, printableLines } from '../domain/text.ts';
import { isVersion } from '../domain/version.ts';

export interface CommonOptions {
  readonly config?: string;
  readonly json?: boolean;
}

export interface DaemonChoice {
  readonly pid?: number;
  readonly adminUrl?: string;
}

export interface SiteChoice extends CommonOptions, Pick<DaemonChoice, 'adminUrl'> {
  readonly site?: string;
}

/** A site that a command works on. */
export interface ChosenSite {
  /** As a daemon of this site alone would have it. */
  readonly config: Config;
  /** For a daemon; null: its only one. */
  readonly domain: string | null;
}

/** A failure that the command has told by itself: only the exit code is left to give. */
export class ToldFailure extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}

export class DocshelfCommand extends Command {
  readonly example: string;
  /** Does nothing itself. */
  readonly isGroup: boolean;

  constructor(name: string, description: string, example: string, isGroup = false) {
    super(name);
    this.example = example;
    this.isGroup = isGroup;
    this.description(description).addHelpText('after', `\nExample:\n  ${example}`);
  }
}

export function group(name: string, description: string, example: string, commands: readonly Command[]): Command {
  const parent = new DocshelfCommand(name, description, example, true);
  for (const child of commands) parent.addCommand(child);
  return parent;
}

export function command(name: string, description: string, example: string): Command {
  return new DocshelfCommand(name, description, example)
    .option('--config <file>', 'the config file (default: DOCSHELF_CONFIG, else ./config.yaml)')
    .option('--json', 'answer in JSON');
}

export function daemonCommand(name: string, description: string, example: string): Command {
  return command(name, description, example)
    .option('--pid <pid>', 'of several daemons on the data folder, the one with this process id', processId)
    .option(
      '--admin-url <url>',
      'the admin listener of a daemon on another machine; needs its admin.token in the config',
    );
}

export function withSite(subcommand: Command): Command {
  return subcommand.option('--site <domain>', 'of several sites, the one of this domain');
}

export function actionCommand(name: string, { summary }: Pick<Operation, 'summary'>, example: string): Command {
  return daemonCommand(name, summary.charAt(0).toLowerCase() + summary.slice(1), example);
}

/** A parser of an option's values. @param read gives null for a text that is none */
export function parserOf<T>(read: (text: string) => T | null, rule: string): (text: string) => T {
  return (text) => {
    const value = read(text);
    if (value === null) throw new InvalidArgumentError(rule);
    return value;
  };
}

export const versionLabel = parserOf(
  (text) => (isVersion(text) ? text : null),
  'It is a version such as 2024-06-01 or v3.2.0.',
);
const processId = parserOf(
  (text) => (/^[1-9]\d{0,9}$/.test(text) ? Number(text) : null),
  'It is the number of a process.',
);

/** For commands that need the config itself. @throws ConfigError with every fault of the file and the environment */
export function loadStrictly(options: CommonOptions): Promise<LoadedConfig> {
  return loadConfig(sourcesOf(options));
}

/** If the file is broken, empty or gone: the config that a running daemon of this file works by. @throws ConfigError */
export async function loadFor(options: CommonOptions): Promise<LoadedConfig> {
  const sources = sourcesOf(options);
  const lastGood = async (fault: ConfigError, storageDir: string | null): Promise<LoadedConfig | null> =>
    (await import('./last-good.ts')).lastGoodConfig(sources, fault, storageDir);
  try {
    const loaded = await loadConfig(sources);
    if (loaded.written.size > 0) return loaded;
    const { file, watchedFiles, config } = loaded;
    return (await lastGood(hasNoSettings(file, watchedFiles), config.storage.dir)) ?? loaded;
  } catch (error) {
    const found = error instanceof ConfigError ? await lastGood(error, error.storageDir) : null;
    if (found === null) throw error;
    return found;
  }
}

function sourcesOf({ config }: CommonOptions): LoadOptions {
  return { file: config ?? null, env: process.env, cwd: process.cwd() };
}

/** @throws ConfigError, DocshelfError `site_needed`, `not_found` */
export async function loadSite(options: SiteChoice): Promise<ChosenSite> {
  return chosenSite(await loadFor(options), options);
}

export async function chosenSite(loaded: LoadedConfig, options: SiteChoice): Promise<ChosenSite> {
  const { config, sites } = loaded;
  const { site = null, adminUrl } = options;
  if (adminUrl !== undefined) {
    // Which sites a daemon on another machine has, its own config says.
    return { config: sites.find(({ domain }) => domain === site)?.config ?? config, domain: site };
  }
  const { config: chosen, domain } = chooseSite(await namedSites(loaded), site, 'the config');
  return { config: chosen, domain: config.sites.length > 0 ? domain : site };
}

/** The sites of the config, that of the single form with the domain that its data folder has. */
export async function namedSites({ config, sites }: LoadedConfig): Promise<(SiteConfig & { domain: string })[]> {
  const { dir } = config.storage;
  const named = sites.map(async (site) => {
    const domain = site.domain ?? (await expectedDomain(dataPaths(dir), null)) ?? DEFAULT_DOMAIN;
    return { ...site, domain };
  });
  return Promise.all(named);
}

/** Titles, names and errors in the text may be foreign: escapes all but its line breaks, which are the command's own. */
export function print(text: string): void {
  process.stdout.write(`${printableLines(text)}\n`);
}

/** One line on standard error. */
export function note(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

export function printJson(value: unknown): void {
  process.stdout.write(`${printableJson(JSON.stringify(value, null, 2))}\n`);
}

export function answer<T>({ json }: CommonOptions, value: T, inWords: (value: T) => string): void {
  if (json === true) printJson(value);
  else print(inWords(value));
}

/** The daemon and the data folder that a command acts on. */
export interface Place {
  /** Null for a daemon on another machine. */
  readonly folder: string | null;
  /** Null if none runs: the command works on the folder itself. */
  readonly daemon: string | null;
}

/** Names the place before a command changes something; with `--json` it is a part of the result. */
export function namePlace({ json }: CommonOptions, { folder, daemon }: Place): void {
  if (json === true) return;
  print(daemon === null ? `Acting on "${folder}": no daemon runs on it.` : `Acting through ${daemon}.`);
}

/** What a failed command prints with `--json` (contract section 8). */
function errorObject(error: DocshelfError): object {
  const faults = error instanceof ConfigError ? { faults: error.faults } : {};
  return { code: error.code, error: error.message, next: error.next ?? null, ...faults };
}

/** @returns the exit code */
export function reportFailure(cause: unknown, isJson: boolean): number {
  const error = toDocshelfError(cause);
  if (isJson) printJson(errorObject(error));
  else for (const line of linesOf(error)) note(line);
  const isForeseen = cause instanceof DocshelfError;
  if (error.code === 'internal' && !isForeseen && !isJson)
    process.stderr.write(`${printableLines((cause as Error).stack ?? '')}\n`);
  return exitCodeOf(error.code);
}

function linesOf(error: DocshelfError): string[] {
  if (error instanceof ConfigError && error.faults.length > 1) {
    const faults = error.faults.map(
      ({ where, message, next }) =>
        `  ${where === null ? '' : `${where}: `}${message}${next === undefined ? '' : ` ${next}`}`,
    );
    return [`docshelf: the config has ${counted(faults.length, 'fault')}:`, ...faults];
  }
  return [`docshelf: ${error.message}`, ...(error.next === undefined ? [] : [`  ${error.next}`])];
}
