import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { ConfigError, loadConfig } from '../../config/index.ts';
import type { DeploymentType } from '../../domain/deployment.ts';
import { DocshelfError, errnoOf, rethrowAs } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { replaceFile, writeOnce } from '../../files/index.ts';

export interface InitAnswers {
  readonly type?: DeploymentType | undefined;
  readonly domain?: string | undefined;
  /** Absolute path. */
  readonly bundleUrlFile?: string | undefined;
  /** Goes into a file beside the config. */
  readonly link?: Secret | undefined;
  readonly version?: string | undefined;
  /** Absolute path. */
  readonly dataDir?: string | undefined;
  readonly port?: number | undefined;
}

/** For the owner alone: a config may come to hold a token. */
const MODE = 0o600;
const LINK_FILE = 'bundle-url';
const STATES: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is no folder',
  EEXIST: 'a part of its path is no folder',
  EACCES: 'the user that docshelf runs as may not',
  EROFS: 'the file system is read-only',
  ENOSPC: 'there is no room',
};

/**
 * Loads the config before it gets its name.
 * @throws DocshelfError `cannot_write`, also where one is there without `force`; `usage` for answers of no sound config
 */
export async function writeConfig(file: string, answers: InitAnswers, force: boolean): Promise<void> {
  const folder = dirname(file);
  await writing(folder, mkdir(folder, { recursive: true }));
  const linkFile = answers.link === undefined ? answers.bundleUrlFile : join(folder, LINK_FILE);
  const text = configText(answers, folder, linkFile);
  if (answers.link !== undefined) await publish(join(folder, LINK_FILE), `${answers.link.reveal()}\n`, force);
  await checkText(text, folder);
  await publish(file, text, force);
}

async function publish(file: string, text: string, force: boolean): Promise<void> {
  if (force) return writing(file, replaceFile(file, text, MODE));
  if (await writing(file, writeOnce(file, text, MODE))) return;
  throw new DocshelfError('cannot_write', `Cannot write "${file}": it is there already`, {
    next: 'Name another file with --config, or replace it with --force.',
  });
}

/** @throws DocshelfError `cannot_write` for whatever the system refuses */
async function writing<T>(path: string, step: Promise<T>): Promise<T> {
  const state = (cause: unknown): string => {
    const errno = errnoOf(cause);
    if (errno === undefined) throw cause;
    return STATES[errno] ?? errno;
  };
  return step.catch(
    rethrowAs('cannot_write', `write "${path}"`, 'Name a file with --config that can be written.', state),
  );
}

/** From where it will stand: its relative paths begin there. */
async function checkText(text: string, folder: string): Promise<void> {
  const candidate = join(folder, `.docshelf-init-${randomBytes(8).toString('hex')}.yaml`);
  await writing(folder, writeFile(candidate, text, { mode: MODE, flag: 'wx' }));
  try {
    await loadConfig({ file: candidate, env: {}, cwd: folder });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const faults = error.faults.map(({ message }) => message).join('; ');
    throw new DocshelfError('usage', `Cannot write a config of these answers: ${faults}`, { cause: error });
  } finally {
    await rm(candidate, { force: true });
  }
}

function configText(answers: InitAnswers, folder: string, linkFile: string | undefined): string {
  const { type = 'client-hosted', domain, version, dataDir, port = 8080 } = answers;
  const isAirGapped = type === 'air-gapped';
  const rows: readonly (readonly [text: string, comment?: string])[] = [
    ['# The config of docshelf. Every key that is missing has its default: docs/config.md lists them all.'],
    [
      '# Check it with "docshelf config check", the machine with "docshelf doctor". A running daemon follows changes by itself.',
    ],
    [''],
    ['deployment:'],
    [`  type: ${type}`, 'cloud | client-hosted | air-gapped; decides which features are available'],
    [domain === undefined ? '  # domain: acme' : `  domain: ${quoted(domain)}`, 'else what the first bundle says'],
    [''],
    ['staticExport:'],
    ['  enabled: true', 'serve the bundle'],
    ...linkRows(linkFile, folder, isAirGapped),
    [
      version === undefined ? '  # version: "2024-06-01"' : `  version: ${quoted(version)}`,
      'pins a version; without it the newest bundle is served',
    ],
    ['  # preload: ./bundles', 'archives in this folder are taken in at every start'],
    ['  keep: 3', 'old releases that stay on disk after a swap'],
    [''],
    ['server:'],
    [`  port: ${port}`, 'the site'],
    [''],
    ['admin:', 'health, status, metrics and actions'],
    ['  host: 127.0.0.1', 'keep it off the public network'],
    ['  port: 9090'],
    ['  # token: a long random word', 'what the actions ask for; without one, every action is refused'],
    [''],
    ['storage:'],
    [`  dir: ${dataDir === undefined ? './data' : fromFolder(dataDir, folder)}`, 'releases, on one file system'],
    [''],
    ['search:'],
    ['  enabled: true', 'the engine inside the daemon; it needs no network'],
    ...(isAirGapped ? INSIDE_ROWS : []),
  ];
  return rows
    .map(([text, comment]) => `${comment === undefined ? text : `${text.padEnd(COMMENT_COLUMN)} # ${comment}`}\n`)
    .join('');
}

const COMMENT_COLUMN = 30;

function linkRows(linkFile: string | undefined, folder: string, isAirGapped: boolean): readonly [string, string?][] {
  if (linkFile !== undefined) {
    return [
      [
        '  # The file that holds the link. The link is a credential: it is never printed, and a changed file is followed.',
      ],
      [`  bundleUrlFile: ${fromFolder(linkFile, folder)}`],
    ];
  }
  return isAirGapped
    ? [
        [
          '  # No link: archives come by "docshelf bundle import", by the inbox, or by the preload folder (docs/air-gap.md).',
        ],
      ]
    : [['  # bundleUrlFile: ./bundle-url', 'a file that holds the link, which is a credential']];
}

const INSIDE_ROWS: readonly [string][] = [
  [''],
  ['# network:'],
  ['#   allowedHosts: [registry.internal]   # hosts inside that may be asked; an air-gapped deployment asks no other'],
  ['#   caFile: ./authority.pem             # the authority of their certificates'],
];

function fromFolder(path: string, folder: string): string {
  const short = relative(folder, path);
  return quoted(short === '' || short.startsWith('..') ? path : `./${short}`);
}

/** JSON's strings are YAML's. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
