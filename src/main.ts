#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import module from 'node:module';

const NODE_MAJOR_MIN = 24;
const EXIT_UNAVAILABLE = 69;
const EXIT_CANNOT_WRITE = 73;

// Check the version first, because on an older Node, the imports fail with messages that do not name the cause.
if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  process.stderr.write(
    `docshelf: docshelf needs Node ${NODE_MAJOR_MIN} or newer, but this is Node ${process.versions.node}\n`,
  );
  process.exit(EXIT_UNAVAILABLE);
}

// ONNX Runtime 1.30 and newer sends telemetry by default: it looks up a host name, and stores files in the home folder. Disable
// telemetry in the main thread, because native code does not see the environment of another thread.
process.env.ORT_DISABLE_TELEMETRY = '1';

// Cache compiled code in the temporary folder if it is writable, so that a second start needs a third less CPU.
module.enableCompileCache();

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

// If messages cannot be written, for example on a full disk, the command continues and ends with its exit code.
process.stderr.on('error', () => undefined);

// A closed pipe (`docshelf bundle list | head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`docshelf: Cannot write the output: ${error.message}\n  Error code: cannot_write\n`);
  process.exit(EXIT_CANNOT_WRITE);
});

const { run } = await import('./cli/index.ts');
process.exitCode = await run(process.argv.slice(2), version);
