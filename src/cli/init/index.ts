import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { DEPLOYMENT_TYPES, type DeploymentType, DOMAIN_PATTERN } from '../../domain/deployment.ts';
import { type CommonOptions, command, print, printJson, versionLabel } from '../command.ts';
import { askForAnswers } from './questions.ts';
import { type InitAnswers, writeConfig } from './write.ts';

interface InitOptions extends CommonOptions {
  readonly type?: DeploymentType;
  readonly domain?: string;
  readonly bundleUrlFile?: string;
  readonly version?: string;
  readonly dataDir?: string;
  readonly port?: number;
  readonly force?: boolean;
  readonly yes?: boolean;
}

export function initCommand(): Command {
  return command(
    'init',
    'write a commented config: asks on a terminal, or takes what the options say',
    'docshelf init --type air-gapped --domain acme --config config.yaml',
  )
    .addOption(new Option('--type <type>', 'the type of this deployment').choices(DEPLOYMENT_TYPES))
    .option('--domain <domain>', 'the domain of the site', matching(DOMAIN_PATTERN, 'It is a name such as acme.'))
    .option('--bundle-url-file <file>', 'file that holds the link to the bundle')
    .option('--version <version>', 'pin this version', versionLabel)
    .option('--data-dir <folder>', 'where releases are kept (default: ./data)')
    .option('--port <number>', 'port of the site (default: 8080)', port)
    .option('--force', 'replace a config that is there')
    .option('--yes', 'ask nothing')
    .action(async (options: InitOptions) => {
      const file = await initConfig(options);
      if (options.json === true) printJson({ ok: true, file });
      else print(`Wrote ${file}. Next: docshelf doctor --config ${file}, then docshelf serve --config ${file}`);
    });
}

/** Writes the config of these options, and of the answers to what they leave open. @returns its path */
export async function initConfig({ force = false, yes, json, config, ...options }: InitOptions): Promise<string> {
  const file = resolve(config ?? (process.env.DOCSHELF_CONFIG || 'config.yaml'));
  const given: Partial<InitAnswers> = {
    ...(options.type === undefined ? {} : { type: options.type }),
    ...(options.domain === undefined ? {} : { domain: options.domain }),
    ...(options.bundleUrlFile === undefined ? {} : { bundleUrlFile: resolve(options.bundleUrlFile) }),
    ...(options.version === undefined ? {} : { version: options.version }),
    ...(options.dataDir === undefined ? {} : { dataDir: resolve(options.dataDir) }),
    ...(options.port === undefined ? {} : { port: options.port }),
  };
  const mayAsk = yes !== true && json !== true && process.stdin.isTTY === true;
  const answers = mayAsk ? await askForAnswers(given, file) : given;
  await writeConfig(file, answers, force);
  return file;
}

function matching(pattern: RegExp, rule: string) {
  return (text: string): string => {
    if (pattern.test(text)) return text;
    throw new InvalidArgumentError(rule);
  };
}

function port(text: string): number {
  const number = Number(text);
  if (/^\d{1,5}$/.test(text) && number <= 65_535) return number;
  throw new InvalidArgumentError('It is a number from 0 to 65535; 0 takes a free one.');
}
