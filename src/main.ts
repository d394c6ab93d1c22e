#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import module from 'node:module';

/** The process: arguments in, exit code out. What commands need built is loaded when they ask for it. */

const NODE_MAJOR_MIN = 24;
const EXIT_UNAVAILABLE = 69;

// Before anything else is loaded: on an older Node the imports themselves fail, with words that help nobody.
if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  process.stderr.write(
    `docshelf: this is Node ${process.versions.node}, and docshelf needs Node ${NODE_MAJOR_MIN} or newer\n`,
  );
  process.exit(EXIT_UNAVAILABLE);
}

// The inference runtime's builds report to their maker unless they are told not to, from version 1.30 on: a name is looked up, and
// files are kept in the home folder. Set here, where it reaches native code: a thread's own environment does not.
process.env.ORT_DISABLE_TELEMETRY = '1';

// Compiled code is kept in the temporary folder, where that can be written: a second start takes a third less CPU.
module.enableCompileCache();

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

// A reader that goes away (`docshelf bundle list | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const { run } = await import('./cli/index.ts');
process.exitCode = await run(process.argv.slice(2), version);
