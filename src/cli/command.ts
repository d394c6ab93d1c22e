import { Command } from 'commander';
import { ConfigError, type LoadedConfig, loadConfig } from '../config/index.ts';
import { type DocshelfError, exitCodeOf, toDocshelfError } from '../domain/errors.ts';

/** The options of every command. */
export interface CommonOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** A command with the options that all have, and an example under its help. */
export function command(name: string, description: string, example: string): Command {
  return new Command(name)
    .description(description)
    .option('--config <file>', 'the config file (default: DOCSHELF_CONFIG, else ./config.yaml)')
    .option('--json', 'answer in JSON')
    .addHelpText('after', `\nExample:\n  ${example}`);
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
