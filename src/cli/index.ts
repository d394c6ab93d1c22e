import { Command, CommanderError } from 'commander';
import { DocshelfError, exitCodeOf } from '../domain/errors.ts';
import { ReportedFailure, reportFailure } from './output.ts';

type Load = (version: string, program: Command) => Promise<Command>;

/** Commands in the order of the help. docshelf loads only the module of the called command, because loading takes most of the time. */
const COMMANDS: Readonly<Record<string, Load>> = {
  serve: async (version) => (await import('./daemon.ts')).serveCommand(version),
  reload: async () => (await import('./daemon.ts')).reloadCommand(),
  config: async () => (await import('./config.ts')).configCommand(),
  bundle: async () => (await import('./bundle/index.ts')).bundleCommand(),
  sites: async () => (await import('./sites.ts')).sitesCommand(),
  features: async () => (await import('./sites.ts')).featuresCommand(),
  search: async () => (await import('./search.ts')).searchCommand(),
  mcp: async (version) => (await import('./search.ts')).mcpCommand(version),
  check: async () => (await import('./folder.ts')).checkCommand(),
  preview: async (version) => (await import('./folder.ts')).previewCommand(version),
  export: async () => (await import('./export/index.ts')).exportCommand(),
  keys: async () => (await import('./keys.ts')).keysCommand(),
  transfer: async (version) => (await import('./transfer.ts')).transferCommand(version),
  backup: async () => (await import('./backup.ts')).backupCommand(),
  restore: async () => (await import('./backup.ts')).restoreCommand(),
  healthcheck: async () => (await import('./daemon.ts')).healthcheckCommand(),
  doctor: async () => (await import('./config.ts')).doctorCommand(),
  init: async () => (await import('./init.ts')).initCommand(),
  completion: async (_, program) => (await import('./completion.ts')).completionCommand(program),
};

/** @returns the exit code, as in sysexits(3) */
export async function run(args: readonly string[], version: string): Promise<number> {
  const [first = ''] = args;
  const isKnown = Object.hasOwn(COMMANDS, first) && first !== 'completion';
  const program = await createProgram(version, isKnown ? first : undefined);
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

/** @param only command to load. If omitted, loads all commands */
export async function createProgram(version: string, only?: string): Promise<Command> {
  const program = new Command('docshelf')
    .description(
      'Serve documentation bundles from your own machine: import them, switch versions, and search, online or offline',
    )
    .version(version, '-V, --version', 'Print the version of docshelf')
    // After "bundle import", "--version" sets the version of the bundle instead of printing the program's version.
    .enablePositionalOptions()
    .addHelpText('after', FIRST_STEPS);
  for (const [name, load] of Object.entries(COMMANDS))
    if (only === undefined || name === only) program.addCommand(await load(version, program));
  describeHelp(program);
  return program;
}

function describeHelp(command: Command): void {
  command.helpOption('-h, --help', 'Show this help');
  if (command.commands.length > 0) command.helpCommand('help [command]', 'Show the help of a command');
  for (const child of command.commands) describeHelp(child);
}
