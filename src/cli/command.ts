import { Command, InvalidArgumentError } from 'commander';
import { ConfigError, type LoadedConfig, loadConfig } from '../config/index.ts';
import { type DocshelfError, exitCodeOf, toDocshelfError } from '../domain/errors.ts';
import type { Operation } from '../domain/operation.ts';
import { isVersion } from '../domain/version.ts';

/** The options of every command. */
export interface CommonOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** The options of commands that speak to a daemon. */
export interface DaemonChoice {
  readonly pid?: number;
  readonly adminUrl?: string;
}

/** A failure that the command has told the person by itself: only the exit code is left to give. */
export class ToldFailure extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** A command that knows its example: under its help, and on the man page. */
export class DocshelfCommand extends Command {
  readonly example: string;

  constructor(name: string, description: string, example: string) {
    super(name);
    this.example = example;
    this.description(description).addHelpText('after', `\nExample:\n  ${example}`);
  }
}

/** Commands that belong together. */
export function group(name: string, description: string, example: string): Command {
  return new DocshelfCommand(name, description, example);
}

/** A command with the options that all have. */
export function command(name: string, description: string, example: string): Command {
  return new DocshelfCommand(name, description, example)
    .option('--config <file>', 'the config file (default: DOCSHELF_CONFIG, else ./config.yaml)')
    .option('--json', 'answer in JSON');
}

/** A command that speaks to a daemon. */
export function daemonCommand(name: string, description: string, example: string): Command {
  return command(name, description, example)
    .option('--pid <pid>', 'of several daemons on the data folder, the one with this process id', processId)
    .option(
      '--admin-url <url>',
      'the admin listener of a daemon on another machine; needs its admin.token in the config',
    );
}

/** A command for one call of the daemon: its line of help is that call's summary. */
export function actionCommand(name: string, { summary }: Pick<Operation, 'summary'>, example: string): Command {
  return daemonCommand(name, summary.charAt(0).toLowerCase() + summary.slice(1), example);
}

/** Reads what stands behind `--version`. @throws InvalidArgumentError: the command line is wrong, and no archive was looked at. */
export function versionLabel(text: string): string {
  if (isVersion(text)) return text;
  throw new InvalidArgumentError('It is a version such as 2024-06-01 or v3.2.0.');
}

function processId(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is the number of a process.');
}

/** @throws ConfigError with every fault of the file and the environment */
export function loadFor(options: CommonOptions): Promise<LoadedConfig> {
  return loadConfig({ file: options.config ?? null, env: process.env, cwd: process.cwd() });
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** The object that a failed command with `--json` prints, and the API answers with (contract section 8). */
export function errorObject(error: DocshelfError): object {
  const faults = error instanceof ConfigError ? { faults: error.faults } : {};
  return { code: error.code, error: error.message, next: error.next ?? null, ...faults };
}

/** Tells a failure where it belongs, and gives the exit code. */
export function reportFailure(cause: unknown, isJson: boolean): number {
  const error = toDocshelfError(cause);
  if (isJson) printJson(errorObject(error));
  else for (const line of linesOf(error)) process.stderr.write(`${line}\n`);
  if (error.code === 'internal' && !isJson) process.stderr.write(`${(cause as Error).stack ?? ''}\n`);
  return exitCodeOf(error.code);
}

function linesOf(error: DocshelfError): string[] {
  if (error instanceof ConfigError && error.faults.length > 1) {
    const faults = error.faults.map(({ where, message, next }) =>
      [where === null ? '' : `${where}: `, message, next === undefined ? '' : ` ${next}`].join(''),
    );
    return [`docshelf: the config has ${faults.length} faults:`, ...faults.map((fault) => `  ${fault}`)];
  }
  return [`docshelf: ${error.message}`, ...(error.next === undefined ? [] : [`  ${error.next}`])];
}
