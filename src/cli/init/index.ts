import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { type Command, Option } from 'commander';
import type { LoadedConfig } from '../../config/index.ts';
import { DEPLOYMENT_TYPES, DOMAIN_PATTERN } from '../../domain/deployment.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { answer, type CommonOptions, command, parserOf, versionLabel } from '../command.ts';
import { askForAnswers } from './questions.ts';
import { type InitAnswers, writeConfig } from './write.ts';

interface InitOptions extends CommonOptions, InitAnswers {
  readonly force?: boolean;
  readonly yes?: boolean;
}

const domainOf = parserOf((text) => (DOMAIN_PATTERN.test(text) ? text : null), 'It is a name such as acme.');
const portOf = parserOf(
  (text) => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : null),
  'It is a number from 0 to 65535; 0 takes a free one.',
);
const absolute = (path: string) => resolve(path);

export function initCommand(): Command {
  return command(
    'init',
    'write a commented config: asks on a terminal, or takes what the options say',
    'docshelf init --type air-gapped --domain acme --config config.yaml',
  )
    .addOption(new Option('--type <type>', 'the type of this deployment').choices(DEPLOYMENT_TYPES))
    .option('--domain <domain>', 'the domain of the site', domainOf)
    .option('--bundle-url-file <file>', 'file that holds the link to the bundle', absolute)
    .option('--version <version>', 'pin this version', versionLabel)
    .option('--data-dir <folder>', 'where releases are kept (default: ./data)', absolute)
    .option('--port <number>', 'port of the site (default: 8080)', portOf)
    .option('--force', 'replace a config that is there')
    .option('--yes', 'ask nothing')
    .action(async (options: InitOptions) => {
      const written = { ok: true, file: await initConfig(options) };
      answer(options, written, ({ file }) => {
        return `Wrote ${file}. Next: docshelf doctor --config ${file}, then docshelf serve --config ${file}`;
      });
    });
}

async function initConfig({ force = false, yes, json, config, ...given }: InitOptions): Promise<string> {
  const file = resolve(config ?? (process.env.DOCSHELF_CONFIG || 'config.yaml'));
  const mayAsk = yes !== true && json !== true && process.stdin.isTTY === true;
  await writeConfig(file, mayAsk ? await askForAnswers(given, file) : given, force);
  return file;
}

/**
 * An unconfigured daemon would serve nothing and tell nobody: a terminal is offered a config, others are refused.
 * @returns true where a config was written. @throws DocshelfError `config_invalid`
 */
export async function offerInit({ file, origins }: LoadedConfig): Promise<boolean> {
  if (file !== null || [...origins.values()].some((origin) => origin !== 'default')) return false;
  const hasTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true;
  if (!hasTerminal || !(await wantsConfig())) {
    throw new DocshelfError(
      'config_invalid',
      'Cannot serve: there is no ./config.yaml, DOCSHELF_CONFIG names none, and no DOCSHELF__… variable is set',
      { next: '"docshelf init" writes a config; "docshelf serve --config FILE" takes one from elsewhere.' },
    );
  }
  await initConfig({});
  return true;
}

async function wantsConfig(): Promise<boolean> {
  using terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answered = await terminal.question('There is no config.yaml here. Write one now? [Y/n] ');
  return !/^n/i.test(answered.trim());
}
