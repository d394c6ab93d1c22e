import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { stateOf } from '../domain/errors.ts';
import { Secret } from '../domain/secret.ts';
import { readText } from './read-config-file.ts';
import { fits, type SchemaNode } from './schema-node.ts';
import { type ConfigFault, type FileReading, faultOf } from './setting.ts';

const CONTENT_BYTES_MAX = 64 * 1024;

export class NamedFile {
  readonly path: string;
  text = new Secret('');

  constructor(path: string) {
    this.path = path;
  }

  toJSON(): string {
    return this.path;
  }
}

/** Paths of defaults may be missing. Prints as its path. */
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
  /** Receives the content. Null if only the path is used. */
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
  if (holds === undefined) return access(path, constants.R_OK).then(() => null);
  const text = (await readText(path, holds.bytesMax ?? CONTENT_BYTES_MAX)).trim();
  if (text === '') return 'it is empty';
  if (holds.eachLine) {
    const line = text.split('\n').findIndex((each) => !isBlank(each) && !fits(each.trim(), holds));
    if (line >= 0) return `its line ${line + 1} does not contain ${holds.expects}`;
  } else if (!fits(text, holds)) return `it does not contain ${holds.expects}`;
  if (target !== null) target.text = new Secret(text);
  return null;
}

const isBlank = (line: string): boolean => /^\s*(?:#|$)/.test(line);
