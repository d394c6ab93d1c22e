import { Command, CommanderError } from 'commander';
import { DocshelfError } from '../domain/errors.ts';
import type { Builders } from './builders.ts';
import { bundleCommand } from './bundle.ts';
import { reportFailure } from './command.ts';
import { configCommand } from './config.ts';
import { exportCommand } from './export.ts';
import { featuresCommand } from './features.ts';
import { healthcheckCommand } from './healthcheck.ts';
import { keysCommand } from './keys.ts';
import { searchCommand } from './search.ts';
import { serveCommand } from './serve.ts';

export type { Builders } from './builders.ts';

const EXIT_USAGE = 64;

const FIRST_STEPS = `
First steps:
  docshelf config check --config config.yaml    is the config sound?
  docshelf serve --config config.yaml           run the daemon
  docshelf bundle import FILE                   take an archive in, offline

The keys of the config: config.example.yaml. Errors and what to do: docs/errors.md.`;

/**
 * Runs one command.
 *
 * @param args what follows the program's name
 * @returns the exit code, after sysexits(3)
 */
export async function run(args: readonly string[], version: string, builders: Builders): Promise<number> {
  const program = new Command('docshelf')
    .description(
      'The self-hosted home of documentation bundles: serves a pinned version, swaps it on reload, online or offline.',
    )
    .version(version, '-V, --version')
    // "bundle import --version" is the bundle's: an option belongs to the command that it stands behind.
    .enablePositionalOptions()
    .addHelpText('after', FIRST_STEPS);
  for (const command of [
    serveCommand(builders),
    configCommand(),
    bundleCommand(builders),
    featuresCommand(builders),
    searchCommand(builders),
    exportCommand(builders),
    keysCommand(),
    healthcheckCommand(),
  ]) {
    program.addCommand(command);
  }
  neverExit(program);
  if (args.length === 0) {
    program.outputHelp();
    return 0;
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    const isJson = args.includes('--json');
    if (!(error instanceof CommanderError)) return reportFailure(error, isJson);
    // Commander has told the person what was wrong; help and version end with 0, all else is a fault of usage.
    if (error.exitCode === 0) return 0;
    return isJson ? reportFailure(usageFault(error), isJson) : EXIT_USAGE;
  }
}

/** Commander's words without its own prefix and line breaks: `unknown command 'imprt' (Did you mean import?)`. */
function usageFault({ message }: CommanderError): DocshelfError {
  const state = message.replace(/^error: /, '').replaceAll('\n', ' ');
  return new DocshelfError('usage', `Cannot run the command: ${state}`, { next: 'See --help.' });
}

/** Commander must not end the process by itself; a mistyped command gets the nearest one named, and where help is. */
function neverExit(command: Command): void {
  command.exitOverride().showSuggestionAfterError().showHelpAfterError('See --help.');
  for (const child of command.commands) neverExit(child);
}
