import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errnoOf, nextFor, stateOf } from '../domain/errors.ts';
import { Secret } from '../domain/secret.ts';
import { linesOf } from '../domain/text.ts';
import { openNamed } from '../files/index.ts';
import type { YamlReading } from './read-yaml.ts';
import { fits, type SchemaNode } from './schema-node.ts';
import { type ConfigFault, type FileReading, faultOf, type Settings } from './setting.ts';

const DEFAULT_NAME = 'config.yaml';

const CONFIG_BYTES_MAX = 1024 ** 2;

export interface ConfigFile extends YamlReading {
  readonly path: string | null;
  readonly name: string;
  readonly text: string | null;
}

/**
 * Reads the config file `named`, which must exist. If `named` is null, reads `./config.yaml` if it exists.
 * @param known text to use instead of the file's content
 */
export async function readConfigFile(named: string | null, cwd: string, known?: string): Promise<ConfigFile> {
  const name = named ?? DEFAULT_NAME;
  const path = resolve(cwd, name);
  const nothing = { name, text: null, settings: [], written: new Set<string>() };
  try {
    const text = known ?? (await readText(path, CONFIG_BYTES_MAX));
    // Load the YAML parser on demand, because it takes 28 ms, and a daemon may have no config file.
    const { readYaml } = await import('./read-yaml.ts');
    return { path, name, text, ...readYaml(text, name) };
  } catch (error) {
    if (named === null && errnoOf(error) === 'ENOENT') return { path: null, ...nothing, faults: [] };
    const message = `Cannot read the config file "${name}": ${stateOf(error)}`;
    const next = nextFor(
      error,
      'Pass the file with --config or DOCSHELF_CONFIG. To create a config, run "docshelf init".',
    );
    return { path, ...nothing, faults: [{ ...faultOf(message, null, null), next }] };
  }
}

const ORGANIZATIONS_BYTES_MAX = 4 * 1024 ** 2;
const ORGANIZATIONS = 'organizations';

/** Reads YAML with the single key `organizations`, so that the administrator of API keys needs no access to the other settings. */
export async function readOrganizationsFile(
  given: Settings,
  baseDir: string,
): Promise<FileReading & Pick<YamlReading, 'written'>> {
  const setting = given.get('organizationsFile');
  const nothing = { settings: [], written: new Set<string>() };
  if (typeof setting?.value !== 'string') return { ...nothing, faults: [], files: [] };
  const name = setting.value;
  const refused = (message: string, files: readonly string[]) => {
    return { ...nothing, faults: [faultOf(message, 'organizationsFile', setting.where)], files };
  };
  if (given.get(ORGANIZATIONS) !== undefined)
    return refused('organizations and organizationsFile are both set; keep one of them', []);
  const file = resolve(baseDir, name);
  try {
    const text = await readText(file, ORGANIZATIONS_BYTES_MAX);
    const { readYaml } = await import('./read-yaml.ts');
    const { settings, faults, written } = readYaml(text, name);
    const { own = [], others = [] } = Object.groupBy(settings, ({ path }) =>
      path[0] === ORGANIZATIONS ? 'own' : 'others',
    );
    const misplaced = others.map(({ path, where }) => {
      const key = path.join('.');
      const state = `is not allowed in organizationsFile, which may contain only the key ${ORGANIZATIONS}; move it to the config`;
      return faultOf(`${key} ${state}`, key, where);
    });
    return { settings: own, faults: [...faults, ...misplaced], files: [file], written };
  } catch (error) {
    return refused(`Cannot use "${name}" as organizationsFile: ${stateOf(error)}`, [file]);
  }
}

/** Maximum wait for a program that has opened a pipe, such as a shell with `--config <(command)`, but has not written to it. */
const PIPE_WAIT_MS = 10_000;
const PIPE_POLL_MS = 20;

/**
 * Reads at most `bytesMax` bytes instead of checking the size first, so that pipes work and a growing file cannot exceed the
 * bound. @throws NodeJS.ErrnoException, or UnusableText with a clause such as `it is larger than 1048576 bytes`
 */
export async function readText(file: string, bytesMax: number): Promise<string> {
  await using handle = await openNamed(file);
  const buffer = Buffer.alloc(bytesMax + 1);
  let length = 0;
  const endMs = performance.now() + PIPE_WAIT_MS;
  while (length <= bytesMax) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length).catch(async (error: unknown) => {
      if (errnoOf(error) !== 'EAGAIN') throw error;
      if (performance.now() > endMs) throw new UnusableText('it is a pipe, and its program needs more than 10 seconds');
      await delay(PIPE_POLL_MS);
      return { bytesRead: null };
    });
    if (bytesRead === 0) break;
    length += bytesRead ?? 0;
  }
  if (length === 0 && (await handle.stat()).isFIFO())
    throw new UnusableText('it is a pipe, and no program writes to it');
  if (length > bytesMax) throw new UnusableText(`it is larger than ${bytesMax} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, length));
  } catch (error) {
    throw new UnusableText('it is not UTF-8 text', { cause: error });
  }
}

class UnusableText extends Error {
  override toString(): string {
    return this.message;
  }
}

const CONTENT_BYTES_MAX = 64 * 1024;

export class NamedFile {
  readonly path: string;
  text = new Secret('');

  constructor(path: string) {
    this.path = path;
  }

  get lines(): string[] {
    return linesOf(this.text.reveal());
  }

  toJSON(): string {
    return this.path;
  }
}

export class NamedFolder {
  readonly dir: string;
  readonly mayBeMissing: boolean;

  constructor(dir: string, mayBeMissing: boolean) {
    this.dir = dir;
    this.mayBeMissing = mayBeMissing;
  }

  toJSON(): string {
    return this.dir;
  }
}

export interface NamedPath {
  readonly schema: SchemaNode;
  readonly path: string;
  readonly pointer: string;
  readonly key: string;
  readonly where: string | null;
  /** Object that receives the content of a file named in the config. Null if `Config` contains only the file's path. */
  readonly target: NamedFile | null;
}

export async function readNamedFiles(named: readonly NamedPath[]): Promise<Omit<FileReading, 'settings'>> {
  const faults: ConfigFault[] = [];
  for (const each of named) {
    const state = await stateOfNamed(each).catch(stateOf);
    if (state === null) continue;
    const { key } = each;
    const message =
      isFile(each) && each.schema['x-holds'] === undefined
        ? `Cannot read "${each.path}" for ${key}: ${state}`
        : `Cannot use "${each.path}" as ${key}: ${state}`;
    faults.push(faultOf(message, key, each.where));
  }
  return { faults, files: named.filter(isFile).map(({ path }) => path) };
}

const isFile = ({ schema }: NamedPath): boolean => schema['x-names'] !== 'folder';

async function stateOfNamed({ schema, path, target }: NamedPath): Promise<string | null> {
  const { 'x-names': kind, 'x-holds': holds } = schema;
  if (kind === 'folder') return (await stat(path)).isDirectory() ? null : 'it is not a folder';
  if (holds === undefined) {
    await using handle = await openNamed(path);
    return (await handle.stat()).isFile() ? null : 'it is not a regular file';
  }
  const text = (await readText(path, holds.bytesMax ?? CONTENT_BYTES_MAX)).trim();
  if (text === '') return 'it is empty';
  if (holds.eachLine) {
    const line = text.split('\n').findIndex((each) => !isBlank(each) && !fits(each.trim(), holds));
    if (line >= 0) return `its line ${line + 1} does not contain ${holds.expects}`;
  } else if (!fits(text, holds)) return `it does not contain ${holds.expects}`;
  if (target !== null) target.text = new Secret(text);
  return null;
}

const isBlank = (line: string): boolean => linesOf(line).length === 0;
