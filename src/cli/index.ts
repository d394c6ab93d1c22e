import { type Command, CommanderError } from 'commander';
import { DocshelfError, exitCodeOf } from '../domain/errors.ts';
import { reportFailure, ToldFailure } from './command.ts';
import { createProgram } from './program.ts';

/**
 * Runs one command.
 *
 * @param args what follows the program's name
 * @returns the exit code, after sysexits(3)
 */
export async function run(args: readonly string[], version: string): Promise<number> {
  const program = createProgram(version);
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
    if (!(error instanceof CommanderError)) return reportFailure(withHelp(error, program, args), isJson);
    // Help and version end with 0, and a group without a command has printed its help; all else is a fault of usage.
    if (error.exitCode === 0) return 0;
    if (error.code === 'commander.help') return exitCodeOf('usage');
    return reportFailure(usageFault(error, program, args), isJson);
  }
}

/** Commander's words without its own prefix and line breaks, `unknown command 'imprt' (Did you mean import?)`, and whose help to see. */
function usageFault({ message }: CommanderError, program: Command, args: readonly string[]): DocshelfError {
  const state = message.replace(/^error: /, '').replaceAll('\n', ' ');
  const name = commandOf(program, args);
  return new DocshelfError('usage', `Cannot run "${name}": ${state}`, { next: `See "${name} --help".` });
}

/** A fault of usage that names no next step of its own sends to the help of its command. */
function withHelp(error: unknown, program: Command, args: readonly string[]): unknown {
  if (!(error instanceof DocshelfError) || error.code !== 'usage' || error.next !== undefined) return error;
  return new DocshelfError('usage', error.message, { next: `See "${commandOf(program, args)} --help".`, cause: error });
}

/** The command that the arguments name: `docshelf bundle import`. */
function commandOf(program: Command, args: readonly string[]): string {
  const path = ['docshelf'];
  let command: Command | undefined = program;
  for (const arg of args) {
    command = command.commands.find((child) => child.name() === arg);
    if (command === undefined) break;
    path.push(arg);
  }
  return path.join(' ');
}

/** Commander must not end the process by itself, nor say a fault in words of its own; a mistyped command gets the nearest one named. */
function neverExit(command: Command): void {
  command
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({ outputError: () => undefined });
  for (const child of command.commands) neverExit(child);
}
