import { DocshelfError } from '../domain/errors.ts';
import { childOf, type SchemaNode, schemaAt, sectionOf } from './schema-node.ts';

export interface ConfigFault {
  readonly code: 'config_invalid';
  /** The message must not contain the value of the setting, because the value can be a misplaced credential. */
  readonly message: string;
  readonly key: string | null;
  readonly where: string | null;
  readonly next?: string;
}

export function faultOf(message: string, key: string | null, where: string | null): ConfigFault {
  return { code: 'config_invalid', message, key, where };
}

export const FAULTS_MAX = 100;

export class ConfigError extends DocshelfError {
  readonly faults: readonly ConfigFault[];
  readonly watchedFiles: readonly string[];
  readonly storageDir: string | null;

  constructor(
    file: string | null,
    faults: readonly ConfigFault[],
    watchedFiles: readonly string[],
    storageDir: string | null = null,
  ) {
    const shown = inFileOrder(faults).slice(0, FAULTS_MAX);
    const texts = shown.map((fault) => (fault.where === null ? fault.message : `${fault.where}: ${fault.message}`));
    const more = faults.length > shown.length ? ' or more' : '';
    const [only] = shown.length === 1 ? texts : [];
    // Add no prefix to a message that begins with "Cannot", because such a message is a whole sentence and names the file.
    const isWhole = only !== undefined && shown[0]?.message.startsWith('Cannot ') === true;
    const list = only ?? `${texts.length}${more} errors\n  ${texts.join('\n  ')}`;
    super('config_invalid', isWhole ? only : `Cannot use the config "${file ?? 'environment'}": ${list}`, {
      next: shown[0]?.next ?? 'Fix the listed settings, then run "docshelf config check".',
      fields: { faults: shown },
    });
    this.faults = shown;
    this.watchedFiles = watchedFiles;
    this.storageDir = storageDir;
  }
}

export function emptyConfigError(file: string | null, watchedFiles: readonly string[]): ConfigError {
  const next = 'Write the settings into the file again. To stop serving, set staticExport.enabled to false.';
  const message = file === null ? 'the file no longer exists' : 'the file has no settings';
  return new ConfigError(file ?? 'config.yaml', [{ ...faultOf(message, null, null), next }], watchedFiles);
}

export const isPlainName = (name: string): boolean => /^[A-Za-z0-9_.-]{1,64}$/.test(name);

function inFileOrder(faults: readonly ConfigFault[]): ConfigFault[] {
  const placed = faults.map((fault) => {
    const [, line, column] = /:(\d+):(\d+)$/.exec(fault.where ?? '') ?? [];
    return { fault, line: Number(line ?? Infinity), column: Number(column ?? 0) };
  });
  return placed.sort((a, b) => (a.line === b.line ? a.column - b.column : a.line - b.line)).map(({ fault }) => fault);
}

export interface Setting {
  readonly path: readonly string[];
  readonly value: unknown;
  /** Source of the value: `config.yaml:3:5`, `environment NAME`, `file PATH (NAME)` or `flag`. */
  readonly where: string;
  /**
   * Position (`config.yaml:3:5`) of each item of a list or map, by JSON pointer from the root of the config. Empty if the value has no line
   * numbers, as a value from the environment.
   */
  readonly places: Pick<ReadonlyMap<string, string>, 'get'>;
}

export function pointerOf(path: Path): string {
  let pointer = '';
  for (const key of path) pointer += `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return pointer;
}

export function pathOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns `organizations[0].id` for `/organizations/0/id`. Replaces unusual names with `?`, because they can be credentials. */
export function dottedOf(pointer: string): string {
  return pathOf(pointer)
    .map((key) => (/^\d+$/.test(key) ? `[${key}]` : /^[A-Za-z0-9_-]{1,64}$/.test(key) ? `.${key}` : '.?'))
    .join('')
    .replace(/^\./, '');
}

export type Path = readonly (string | number)[];

/** @param rest text of the message after the key, with its first space or punctuation mark */
export function faultInside(setting: Setting | undefined, path: Path, rest: string): ConfigFault {
  const pointer = pointerOf(path);
  const key = dottedOf(pointer);
  return faultOf(key + rest, key, setting?.places.get(pointer) ?? setting?.where ?? null);
}

export type Reading = { readonly settings: readonly Setting[]; readonly faults: readonly ConfigFault[] };

export interface FileReading extends Reading {
  readonly files: readonly string[];
}

/** Splits sections into keys, so that a source of higher precedence can override a single key. Lists and maps stay whole. */
export function settingsOf(
  value: unknown,
  source: Pick<Setting, 'where' | 'places'>,
  path: readonly string[] = [],
  schema: SchemaNode | undefined = schemaAt(path),
): Setting[] {
  const here = { where: source.places.get(pointerOf(path)) ?? source.where, places: source.places };
  const section = sectionOf(schema);
  if (section === null) return [{ path, value, ...here }];
  if (value === null) return [];
  const shorthand = schema?.['x-shorthand'];
  if (shorthand !== undefined && typeof value === 'boolean') return [{ path: [...path, shorthand], value, ...here }];
  if (typeof value !== 'object' || Array.isArray(value)) return [{ path, value, ...here }];
  return Object.entries(value).flatMap(([key, child]) =>
    settingsOf(child, source, [...path, key], childOf(section, key)),
  );
}

export class Settings {
  readonly #byPointer = new Map<string, Setting>();

  constructor(inRisingPrecedence: readonly Setting[]) {
    for (const setting of inRisingPrecedence) this.#byPointer.set(pointerOf(setting.path), setting);
  }

  all(): Setting[] {
    return [...this.#byPointer.values()];
  }

  get(dotted: string): Setting | undefined {
    return this.#byPointer.get(pointerOf(dotted.split('.')));
  }
}
