import { DocshelfError } from '../domain/errors.ts';

export interface ConfigFault {
  readonly code: 'config_invalid' | 'config_not_built';
  /** Names the key; never the value, which may be a credential in the wrong place. */
  readonly message: string;
  /** `organizations[0].id`; null where the fault is of no key. */
  readonly key: string | null;
  /** `config.yaml:12:5`, `environment DOCSHELF__X`, `flag`; null: no place. */
  readonly where: string | null;
  readonly next?: string;
}

export function faultOf(message: string, key: string | null, where: string | null): ConfigFault {
  return { code: 'config_invalid', message, key, where };
}

/** A file full of unknown keys must not become a log full of faults. */
export const FAULTS_MAX = 100;

export class ConfigError extends DocshelfError {
  readonly faults: readonly ConfigFault[];
  readonly watchedFiles: readonly string[];
  /** As far as the config can be read. */
  readonly storageDir: string | null;

  constructor(
    file: string | null,
    faults: readonly ConfigFault[],
    watchedFiles: readonly string[],
    storageDir: string | null = null,
  ) {
    const shown = inFileOrder(faults).slice(0, FAULTS_MAX);
    const code = faults.some((fault) => fault.code === 'config_invalid') ? 'config_invalid' : 'config_not_built';
    const told = shown.map((fault) => (fault.where === null ? fault.message : `${fault.where}: ${fault.message}`));
    const more = faults.length > shown.length ? ' or more' : '';
    const [only] = shown.length === 1 ? told : [];
    // Such a fault is a whole sentence, and names the file that cannot be used.
    const isWhole = only !== undefined && shown[0]?.message.startsWith('Cannot ') === true;
    const list = only ?? `${told.length}${more} faults\n  ${told.join('\n  ')}`;
    super(code, isWhole ? only : `Cannot use the config "${file ?? 'environment'}": ${list}`, {
      next: shown[0]?.next ?? 'Mend what is named; "docshelf config check" lists every fault.',
      fields: { faults: shown },
    });
    this.faults = shown;
    this.watchedFiles = watchedFiles;
    this.storageDir = storageDir;
  }
}

/** For a config that had settings before: an empty file is one that is being written, or was lost. */
export function hasNoSettings(file: string | null, watchedFiles: readonly string[]): ConfigError {
  const next = 'Write the settings. To stop serving, set staticExport.enabled to false.';
  const message = file === null ? 'the file is gone' : 'the file has no settings';
  return new ConfigError(file ?? 'config.yaml', [{ ...faultOf(message, null, null), next }], watchedFiles);
}

/** A link that lost its key must not be shown as a name. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z0-9_.-]{1,64}$/.test(name);
}

/** By line and column; those of other sources last, in order. */
function inFileOrder(faults: readonly ConfigFault[]): ConfigFault[] {
  const placed = faults.map((fault) => {
    const [, line, column] = /:(\d+):(\d+)$/.exec(fault.where ?? '') ?? [];
    return { fault, line: Number(line ?? Infinity), column: Number(column ?? 0) };
  });
  return placed.sort((a, b) => (a.line === b.line ? a.column - b.column : a.line - b.line)).map(({ fault }) => fault);
}
