import { Command, CommanderError } from 'commander';
import { DocshelfError, exitCodeOf } from '../domain/errors.ts';
import { backupCommand, restoreCommand } from './backup.ts';
import { bundleCommand } from './bundle/index.ts';
import { completionCommand } from './completion.ts';
import { configCommand, doctorCommand } from './config.ts';
import { healthcheckCommand, reloadCommand, serveCommand } from './daemon.ts';
import { exportCommand } from './export/index.ts';
import { checkCommand, previewCommand } from './folder.ts';
import { initCommand } from './init.ts';
import { keysCommand } from './keys.ts';
import { ReportedFailure, reportFailure } from './output.ts';
import { mcpCommand, searchCommand } from './search.ts';
import { featuresCommand, sitesCommand } from './sites.ts';
import { transferCommand } from './transfer.ts';

/** @returns the exit code, as in sysexits(3) */
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
    if (error instanceof ReportedFailure) return error.exitCode;
    const isJson = args.includes('--json');
    if (!(error instanceof CommanderError)) return reportFailure(withHelp(error, program, args), isJson);
    // Commander also throws after `--help` and `--version` (exit code 0), and after it prints the help of a group.
    if (error.exitCode === 0) return 0;
    if (error.code === 'commander.help') return exitCodeOf('usage');
    return reportFailure(usageFault(error, program, args), isJson);
  }
}

/** Error with Commander's message in one line: `unknown command 'imprt' (Did you mean import?)`. */
function usageFault({ message }: CommanderError, program: Command, args: readonly string[]): DocshelfError {
  const state = message.replace(/^error: /, '').replaceAll('\n', ' ');
  const name = commandOf(program, args);
  return new DocshelfError('usage', `Cannot run "${name}": ${state}`, { next: `Run "${name} --help".` });
}

function withHelp(error: unknown, program: Command, args: readonly string[]): unknown {
  if (!(error instanceof DocshelfError) || error.code !== 'usage' || error.next !== undefined) return error;
  return new DocshelfError('usage', error.message, { next: `Run "${commandOf(program, args)} --help".`, cause: error });
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

function neverExit(command: Command): void {
  command
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({ outputError: () => undefined });
  for (const child of command.commands) neverExit(child);
}

const FIRST_STEPS = `
First steps:
  docshelf init                                 Create a config
  docshelf doctor --config config.yaml          Check the config and this machine
  docshelf serve --config config.yaml           Run the daemon
  docshelf bundle import FILE                   Import an archive

To list all settings, run "docshelf config print". The console lists all errors under /manual/errors.`;

export function createProgram(version: string): Command {
  const program = new Command('docshelf')
    .description(
      'Serve documentation bundles from your own machine: import them, switch versions, and search, online or offline',
    )
    .version(version, '-V, --version', 'Print the version of docshelf')
    // After "bundle import", "--version" sets the version of the bundle instead of printing the program's version.
    .enablePositionalOptions()
    .addHelpText('after', FIRST_STEPS);
  for (const command of [
    serveCommand(version),
    reloadCommand(),
    configCommand(),
    bundleCommand(),
    sitesCommand(),
    featuresCommand(),
    searchCommand(),
    mcpCommand(version),
    checkCommand(),
    previewCommand(version),
    exportCommand(),
    keysCommand(),
    transferCommand(version),
    backupCommand(),
    restoreCommand(),
    healthcheckCommand(),
    doctorCommand(),
    initCommand(),
    completionCommand(program),
  ]) {
    program.addCommand(command);
  }
  describeHelp(program);
  return program;
}

function describeHelp(command: Command): void {
  command.helpOption('-h, --help', 'Show this help');
  if (command.commands.length > 0) command.helpCommand('help [command]', 'Show the help of a command');
  for (const child of command.commands) describeHelp(child);
}
