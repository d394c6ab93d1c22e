import { stat } from 'node:fs/promises';
import { ConfigError } from '../config/index.ts';
import type { DeployEvent } from '../deploy/index.ts';
import { DocshelfError, exitCodeOf, toDocshelfError } from '../domain/errors.ts';
import type { ExportReport } from '../domain/job.ts';
import { counted, printable, printableJson, printableLines } from '../domain/text.ts';
import type { CommonOptions } from './command.ts';

/** Escapes control characters except line breaks, because titles, names and errors in the text can come from a bundle. */
function print(text: string): void {
  process.stdout.write(`${printableLines(text)}\n`);
}

export function note(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

export function printJson(value: unknown): void {
  process.stdout.write(`${printableJson(JSON.stringify(value, null, 2))}\n`);
}

export function printResult<T>({ json }: CommonOptions, value: T, inWords: (value: T) => string): void {
  if (json === true) printJson(value);
  else print(inWords(value));
}

export type CommandTarget = { readonly folder: string | null; readonly daemon: string | null };

/** Prints which daemon or folder a command will use. With `--json`, prints nothing, because the result contains this data. */
export function printTarget({ json }: CommonOptions, { folder, daemon }: CommandTarget): void {
  if (json === true) return;
  print(
    daemon === null ? `Using "${folder}" directly, because no daemon runs on this data folder.` : `Using ${daemon}.`,
  );
}

/** For each column name, a function that returns the column's cell of a row. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

export function listing<Row>(columns: Columns<Row>, rows: readonly Row[]): string {
  const cells = Object.values(columns);
  return table([Object.keys(columns), ...rows.map((row) => cells.map((cell) => cell(row)))]);
}

/** Escapes each cell, because cells can come from a bundle. */
export function table(cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map((cell) => printable(cell)));
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** @param subject start of the first line, such as `Version v3` */
export function findingsText(
  subject: string,
  { pages, counts, findings }: Pick<ExportReport, 'pages' | 'counts' | 'findings'>,
): string {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (total === 0) return `${subject}: ${counted(pages, 'page')}, no broken references, no requests to other hosts.`;
  const summary = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
  const rows = findings.map(({ kind, page, detail }) => [kind, page, detail]);
  return [
    `${subject}: ${counted(pages, 'page')}, ${summary.join(', ')}.`,
    firstRows(['KIND', 'PAGE', 'REFERENCE'], rows, total),
  ].join('\n');
}

/** Maximum rows in the text output of a command. */
const SHOWN_MAX = 50;

/** @param hint end of the last line if rows are omitted, such as `; use --json to list all` */
export function firstRows(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  total = rows.length,
  hint = '',
): string {
  const shown = rows.slice(0, SHOWN_MAX);
  const more = total - shown.length;
  return table([header, ...shown]) + (more > 0 ? `\nand ${more} more${hint}` : '');
}

export const isFile = async (name: string): Promise<boolean> => (await stat(name).catch(() => null))?.isFile() === true;

export const toMiB = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;

const BAR_CELLS = 24;
const REDRAW_MS = 80;

export class ProgressBar {
  readonly #stream = process.stderr;
  #drawnAt = 0;
  #isShown = false;

  readonly update = ({ phase, name, doneBytes, totalBytes }: DeployEvent & { kind: 'progress' }): void => {
    const share = totalBytes === null || totalBytes === 0 ? null : doneBytes / totalBytes;
    this.draw(phase, share, `${toMiB(doneBytes)}  ${name}`);
  };

  draw(phase: string, share: number | null, rest: string): void {
    if (this.#stream.isTTY !== true) return;
    const now = performance.now();
    if (now - this.#drawnAt < REDRAW_MS && share !== 1) return;
    this.#drawnAt = now;
    this.#isShown = true;
    const line = printable(`${phase} ${share === null ? '' : barOf(Math.min(1, share))}${rest}`);
    this.#stream.write(`\r\x1b[2K${line.slice(0, Math.max(20, (this.#stream.columns ?? 80) - 1))}`);
  }

  [Symbol.dispose](): void {
    this.end();
  }

  end(): void {
    if (this.#isShown) this.#stream.write('\r\x1b[2K');
    this.#isShown = false;
  }
}

function barOf(share: number): string {
  const filled = Math.round(share * BAR_CELLS);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_CELLS - filled)} ${Math.floor(share * 100)} % `;
}

/** Aborts `act` after SIGINT or SIGTERM. @param next advice in the error, about data that remains @throws DocshelfError `stopping` */
export async function whileInterruptible<T>(next: string, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  const interrupt = (): void =>
    abort.abort(new DocshelfError('stopping', 'Cannot continue: the command was interrupted', { next }));
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, interrupt);
  try {
    return await act(abort.signal);
  } catch (error) {
    abort.signal.throwIfAborted();
    throw error;
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, interrupt);
  }
}

/** Ends a command with an exit code but without an error message, because the command has already reported the failure. */
export class ReportedFailure extends Error {
  readonly exitCode: number;

  constructor(exitCode = exitCodeOf('wrong_digest')) {
    super(`ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}

export function reportFailure(cause: unknown, isJson: boolean): number {
  const error = toDocshelfError(cause);
  const faults = error instanceof ConfigError ? { faults: error.faults } : {};
  if (isJson) printJson({ code: error.code, error: error.message, next: error.next ?? null, ...faults });
  else for (const line of linesOf(error)) note(line);
  const isForeseen = cause instanceof DocshelfError;
  if (error.code === 'internal' && !isForeseen && !isJson)
    process.stderr.write(`${printableLines((cause as Error).stack ?? '')}\n`);
  return exitCodeOf(error.code);
}

function linesOf(error: DocshelfError): string[] {
  if (error instanceof ConfigError && error.faults.length > 1) {
    const faults = error.faults.map(
      ({ where, message, next }) =>
        `  ${where === null ? '' : `${where}: `}${message}${next === undefined ? '' : ` ${next}`}`,
    );
    return [`docshelf: the config has ${counted(faults.length, 'error')}:`, ...faults];
  }
  return [
    `docshelf: ${error.message}`,
    ...(error.next === undefined ? [] : [`  ${error.next}`]),
    // Print the error code, so that the operator can look it up in docs/errors.md. For a wrong command line, the help is more
    // useful.
    ...(error.code === 'usage' ? [] : [`  Error code: ${error.code}`]),
  ];
}
