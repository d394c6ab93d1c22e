import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { type Command, Option } from 'commander';
import { ConfigError, type LoadedConfig, loadConfig } from '../config/index.ts';
import { BUNDLE_LINK_FORMS, isBundleLink } from '../domain/bundle-link.ts';
import { DEPLOYMENT_TYPES, type DeploymentType, DOMAIN_PATTERN } from '../domain/deployment.ts';
import { DocshelfError, errnoOf, rethrowAs } from '../domain/errors.ts';
import { Secret } from '../domain/secret.ts';
import { isVersion } from '../domain/version.ts';
import { replaceFile, writeOnce } from '../files/index.ts';
import { type CommonOptions, command, parserOf, portNumber, versionLabel } from './command.ts';
import { printResult } from './output.ts';

interface InitAnswers {
  readonly type?: DeploymentType | undefined;
  readonly domain?: string | undefined;
  readonly bundleUrlFile?: string | undefined;
  readonly link?: Secret | undefined;
  readonly version?: string | undefined;
  readonly dataDir?: string | undefined;
  readonly port?: number | undefined;
}

interface InitOptions extends CommonOptions, InitAnswers {
  readonly force?: boolean;
  readonly yes?: boolean;
}

const domainOf = parserOf((text) => (DOMAIN_PATTERN.test(text) ? text : null), 'Use a name such as acme.');
const absolute = (path: string) => resolve(path);

export function initCommand(): Command {
  return command(
    'init',
    'Create a commented config from the options, and prompt for missing values on a terminal',
    'docshelf init --type air-gapped --domain acme --config config.yaml',
  )
    .addOption(new Option('--type <type>', 'Type of the deployment').choices(DEPLOYMENT_TYPES))
    .option('--domain <domain>', 'Domain of the site', domainOf)
    .option('--bundle-url-file <file>', 'File with the link to the bundle', absolute)
    .option('--version <version>', 'Version to pin', versionLabel)
    .option('--data-dir <folder>', 'Data folder (default: ./data)', absolute)
    .option('--port <number>', 'Port of the site (default: 8080)', portNumber)
    .option('--force', 'Replace an existing config')
    .option('--yes', 'Do not prompt')
    .action(async (options: InitOptions) => {
      const written = { ok: true, file: await initConfig(options) };
      printResult(options, written, ({ file }) => {
        return `Wrote ${file}. Next, run: docshelf doctor --config ${file}, then docshelf serve --config ${file}`;
      });
    });
}

async function initConfig({ force = false, yes, json, config, ...given }: InitOptions): Promise<string> {
  const file = resolve(config ?? (process.env.DOCSHELF_CONFIG || 'config.yaml'));
  const mayAsk = yes !== true && json !== true && process.stdin.isTTY === true;
  await writeConfig(file, mayAsk ? await askForAnswers(given, file) : given, force);
  return file;
}

/** Offers to write a config if none exists. @returns true if a config was written @throws DocshelfError `config_invalid` */
export async function offerInit({ file, origins }: LoadedConfig): Promise<boolean> {
  if (file !== null || origins.size > 0) return false;
  const hasTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true;
  if (!hasTerminal || !(await wantsConfig())) {
    throw new DocshelfError(
      'config_invalid',
      'Cannot serve: ./config.yaml does not exist, and neither DOCSHELF_CONFIG nor a DOCSHELF__… variable is set',
      { next: 'Run "docshelf init" to create a config, or "docshelf serve --config FILE" to use another file.' },
    );
  }
  await initConfig({});
  return true;
}

async function wantsConfig(): Promise<boolean> {
  using terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answered = await terminal.question('This folder has no config.yaml. Create one now? [Y/n] ');
  return !/^n/i.test(answered.trim());
}

/** Prompts on standard error, because standard output is for the result of the command. */
async function askForAnswers(given: InitAnswers, file: string): Promise<InitAnswers> {
  using terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Do not use `question` of readline, because it loses all lines of pasted text except the first.
  const lines = terminal[Symbol.asyncIterator]();
  const words = async (question: string, otherwise: string, isSound: (text: string) => boolean, rule: string) => {
    terminal.setPrompt(`${question} [${otherwise}]: `);
    for (;;) {
      terminal.prompt();
      const line = await lines.next();
      if (line.done === true)
        throw new DocshelfError('canceled', 'Cannot write a config: the input ended before the last question');
      const text = line.value.trim();
      if (text === '') return undefined;
      if (isSound(text)) return text;
      process.stderr.write(`  ${rule}\n`);
    }
  };

  process.stderr.write(`Config file: ${file}${existsSync(file) ? ' (it already exists)' : ''}\n`);
  const types: readonly string[] = DEPLOYMENT_TYPES;
  const typeText = `Type of this deployment (${types.join(', ')})`;
  const type =
    given.type ??
    (await words(typeText, 'client-hosted', (text) => types.includes(text), 'Enter one of the three types.'));
  const domain =
    given.domain ??
    (await words(
      'Domain of the site, such as acme',
      'from the first bundle',
      (text) => DOMAIN_PATTERN.test(text),
      'Enter lower-case letters, digits, and "-".',
    ));
  const hasLink = given.bundleUrlFile !== undefined || type === 'air-gapped';
  const link = hasLink
    ? undefined
    : await words(
        'Link to the bundle (docshelf stores the link in a separate file)',
        'none, import archives instead',
        isBundleLink,
        `Enter a link: ${BUNDLE_LINK_FORMS}.`,
      );
  const version =
    given.version ??
    (await words(
      'Version to pin',
      'none, serve the newest',
      isVersion,
      'Enter a version such as 2024-06-01 or v3.2.0.',
    ));
  return {
    ...given,
    type: DEPLOYMENT_TYPES.find((each) => each === type),
    domain,
    link: link === undefined ? undefined : new Secret(link),
    version,
  };
}

/** Mode of the config file. Only its owner can read the file, because the operator can add a token. */
const OWNER_ONLY = 0o600;
const LINK_FILE = 'bundle-url';
const WRITE_STATES: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  EEXIST: 'a part of its path is not a folder',
  EACCES: 'the user that docshelf runs as has no permission',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** @throws DocshelfError `cannot_write`, also if the file exists without `force`; `usage` if the values make an invalid config */
async function writeConfig(file: string, answers: InitAnswers, force: boolean): Promise<void> {
  const folder = dirname(file);
  await writing(folder, mkdir(folder, { recursive: true }));
  const linkFile = answers.link === undefined ? answers.bundleUrlFile : join(folder, LINK_FILE);
  const text = configText(answers, folder, linkFile);
  if (answers.link !== undefined) await publish(join(folder, LINK_FILE), `${answers.link.reveal()}\n`, force);
  await checkText(text, folder);
  await publish(file, text, force);
}

async function publish(file: string, text: string, force: boolean): Promise<void> {
  // Replace the target of a link instead of the link. Never replace a device such as /dev/stdout, because this would remove it.
  const target = await realpath(file).catch(() => file);
  const isOther = (await stat(file).catch(() => null))?.isFile() === false;
  if (force && !isOther) return writing(file, replaceFile(target, text, OWNER_ONLY));
  if (await writing(file, writeOnce(file, text, OWNER_ONLY))) return;
  throw new DocshelfError('cannot_write', `Cannot write "${file}": it already exists`, {
    next: 'Pass another file with --config, or replace this file with --force.',
  });
}

async function writing<T>(path: string, step: Promise<T>): Promise<T> {
  const state = (cause: unknown): string => {
    const errno = errnoOf(cause);
    if (errno === undefined) throw cause;
    return WRITE_STATES[errno] ?? errno;
  };
  return step.catch(rethrowAs('cannot_write', `write "${path}"`, 'Pass a writable file with --config.', state));
}

/** Checks the text of a new config as a file in the folder of the config, because relative paths in the text start there. */
async function checkText(text: string, folder: string): Promise<void> {
  const candidate = join(folder, `.docshelf-init-${randomBytes(8).toString('hex')}.yaml`);
  await writing(folder, writeFile(candidate, text, { mode: OWNER_ONLY, flag: 'wx' }));
  try {
    await loadConfig({ file: candidate, env: {}, cwd: folder });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const faults = error.faults.map(({ message }) => message).join('; ');
    throw new DocshelfError('usage', `Cannot write a config with these values: ${faults}`, { cause: error });
  } finally {
    await rm(candidate, { force: true });
  }
}

const COMMENT_COLUMN = 30;

function configText(answers: InitAnswers, folder: string, linkFile: string | undefined): string {
  const { type = 'client-hosted', domain, version, dataDir, port = 8080 } = answers;
  const isAirGapped = type === 'air-gapped';
  const link =
    linkFile !== undefined
      ? `# File with the link. The link is a credential: docshelf never prints it. docshelf watches the file.
  bundleUrlFile: ${fromFolder(linkFile, folder)}`
      : isAirGapped
        ? '# No link: import archives with "docshelf bundle import", the inbox, or the preload folder.'
        : '# bundleUrlFile: ./bundle-url\tfile with the link, which is a credential';
  // A tab separates each setting from its comment. Values contain no tab, because JSON escapes tabs.
  const text = `\
# Config of docshelf. All keys are optional. "docshelf config print" lists them with their values, and "docshelf config schema"
# describes them. To check this file, run "docshelf config check". To check the machine, run "docshelf doctor".
# A running daemon reloads a changed config.

deployment:
  type: ${type}\tcloud | client-hosted | air-gapped; decides which features are available
  ${domain === undefined ? '# domain: acme' : `domain: ${quoted(domain)}`}\tdefault: from the first bundle

staticExport:
  enabled: true\tserve the bundle
  ${link}
  ${version === undefined ? '# version: "2024-06-01"' : `version: ${quoted(version)}`}\tpins a version; default: the newest bundle
  # preload: ./bundles\tfolder of archives to import at start; must exist if you set it
  keep: 3\tnumber of old releases to keep on disk

server:
  port: ${port}\tport of the site

admin:\thealth, status, metrics and actions
  host: 127.0.0.1\tdo not expose it to a public network
  port: 9090
  # token: a long random word\trequired for actions; without it, docshelf rejects them

storage:
  dir: ${dataDir === undefined ? './data' : fromFolder(dataDir, folder)}\tdata folder, on one file system

search:
  enabled: true\tbuilt-in search; it needs no network
${isAirGapped ? INSIDE : ''}`;
  return text.replaceAll(
    /^(.*)\t(.*)$/gm,
    (_, line: string, comment: string) => `${line.padEnd(COMMENT_COLUMN)} # ${comment}`,
  );
}

const INSIDE = `
# network:
#   allowedHosts: [registry.internal]   # hosts that docshelf may contact; an air-gapped deployment contacts no others
#   caFile: ./authority.pem             # certificate authority of these hosts
`;

function fromFolder(path: string, folder: string): string {
  const short = relative(folder, path);
  return quoted(short === '' || short.startsWith('..') ? path : `./${short}`);
}

/** Quotes a YAML string as JSON, because every JSON string is also a YAML string. */
const quoted = (text: string): string => JSON.stringify(text);
