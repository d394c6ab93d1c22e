import { Command } from 'commander';
import { bundleCommand } from './bundle/index.ts';
import { configCommand } from './config.ts';
import { doctorCommand } from './doctor.ts';
import { exportCommand } from './export/index.ts';
import { featuresCommand } from './features.ts';
import { healthcheckCommand } from './healthcheck.ts';
import { completionCommand } from './help/completion.ts';
import { initCommand } from './init/index.ts';
import { keysCommand } from './keys.ts';
import { mcpCommand } from './mcp.ts';
import { reloadCommand } from './reload.ts';
import { searchCommand } from './search.ts';
import { serveCommand } from './serve.ts';
import { sitesCommand } from './sites.ts';
import { transferCommand } from './transfer/index.ts';

const FIRST_STEPS = `
First steps:
  docshelf init                                 write a config
  docshelf doctor --config config.yaml          does this machine have what it needs?
  docshelf serve --config config.yaml           run the daemon
  docshelf bundle import FILE                   take an archive in, offline

The keys of the config: config.example.yaml. Errors and what to do: docs/errors.md.`;

export function createProgram(version: string): Command {
  const program = new Command('docshelf')
    .description(
      'The self-hosted home of documentation bundles: serves a pinned version, swaps it on reload, online or offline.',
    )
    .version(version, '-V, --version')
    // "bundle import --version" is the bundle's option, not the program's.
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
    exportCommand(),
    keysCommand(),
    transferCommand(),
    healthcheckCommand(),
    doctorCommand(),
    initCommand(),
    completionCommand(program),
  ]) {
    program.addCommand(command);
  }
  return program;
}
