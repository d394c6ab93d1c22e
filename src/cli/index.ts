import { type Command, CommanderError } from 'commander';
import { DocshelfError } from '../domain/errors.ts';
import type { Builders } from './builders.ts';
import { reportFailure, ToldFailure } from './command.ts';
import { createProgram } from './program.ts';

export type { Builders } from './builders.ts';

const EXIT_USAGE = 64;

/**
 * Runs one command.
 *
 * @param args what follows the program's name
 * @returns the exit code, after sysexits(3)
 */
export async function run(args: readonly string[], version: string, builders: Builders): Promise<number> {
  const program = createProgram(version, builders);
  neverExit(program);
  if (args.length === 0) {
    program.outputHelp();
    return 0;
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof ToldFailure) return error.exitCode;
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
