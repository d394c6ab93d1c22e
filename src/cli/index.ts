import { type Command, CommanderError } from 'commander';
import { DocshelfError, exitCodeOf } from '../domain/errors.ts';
import { reportFailure, ToldFailure } from './command.ts';
import { createProgram } from './program.ts';

/** @returns the exit code, after sysexits(3) */
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
    // Help and version end with 0; a group without a command has printed its help.
    if (error.exitCode === 0) return 0;
    if (error.code === 'commander.help') return exitCodeOf('usage');
    return reportFailure(usageFault(error, program, args), isJson);
  }
}

/** Commander's words in one line, `unknown command 'imprt' (Did you mean import?)`. */
function usageFault({ message }: CommanderError, program: Command, args: readonly string[]): DocshelfError {
  const state = message.replace(/^error: /, '').replaceAll('\n', ' ');
  const name = commandOf(program, args);
  return new DocshelfError('usage', `Cannot run "${name}": ${state}`, { next: `See "${name} --help".` });
}

function withHelp(error: unknown, program: Command, args: readonly string[]): unknown {
  if (!(error instanceof DocshelfError) || error.code !== 'usage' || error.next !== undefined) return error;
  return new DocshelfError('usage', error.message, { next: `See "${commandOf(program, args)} --help".`, cause: error });
}

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

/** Commander must not end the process, nor tell a fault itself; a mistyped command gets the nearest one named. */
function neverExit(command: Command): void {
  command
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({ outputError: () => undefined });
  for (const child of command.commands) neverExit(child);
}
