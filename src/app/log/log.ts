import { fstatSync } from 'node:fs';
import { destination, type Logger, type LoggerOptions, pino, stdSerializers } from 'pino';
import { printableJson, printableLines } from '../../domain/text.ts';

/** Of a UTF-16 code unit. */
const UTF8_BYTES_MAX = 3;
/** Lines that are not put together yet. */
const WAITING_MAX = 100;

/**
 * Lines of a log as bytes, which are put together many at a time: each on its own, with a request's work before it, took a request of
 * random pages from 20 to 22 µs; as one string, 3 µs a line (measured).
 */
export class LineBytes {
  readonly #bytes: Buffer;
  readonly #onFull: (bytes: Buffer) => void;
  #filled = 0;
  #waiting: (() => string)[] = [];

  /** @param onFull given what has no more room among so many bytes, in the order of the lines */
  constructor(bytesMax: number, onFull: (bytes: Buffer) => void) {
    this.#bytes = Buffer.allocUnsafeSlow(bytesMax);
    this.#onFull = onFull;
  }

  get isEmpty(): boolean {
    return this.#filled === 0 && this.#waiting.length === 0;
  }

  add(line: () => string): void {
    this.#waiting.push(line);
    if (this.#waiting.length === WAITING_MAX) this.#gather();
  }

  /** All that was added and not given to `onFull`. */
  take(): Buffer {
    this.#gather();
    const bytes = Buffer.from(this.#bytes.subarray(0, this.#filled));
    this.#filled = 0;
    return bytes;
  }

  #gather(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const line of waiting) this.#put(line());
  }

  #put(line: string): void {
    const bytesMax = UTF8_BYTES_MAX * line.length;
    if (bytesMax > this.#bytes.length - this.#filled) this.#giveFilled();
    if (bytesMax > this.#bytes.length) this.#onFull(Buffer.from(line));
    else this.#filled += this.#bytes.write(line, this.#filled);
  }

  #giveFilled(): void {
    if (this.#filled > 0) this.#onFull(Buffer.from(this.#bytes.subarray(0, this.#filled)));
    this.#filled = 0;
  }
}

/** Makes lines of the log of the level `info` without the logger, of the fields of a JSON object without its braces. */
export function lineMaker(): (fields: string, atMs?: number) => string {
  const time = timeField();
  return (fields, atMs) => `{"level":"info"${time(atMs)},${fields}}\n`;
}

/** Many lines are of one millisecond. */
export function timeField(): (atMs?: number) => string {
  let lastMs = 0;
  let field = '';
  return (atMs = Date.now()) => {
    if (atMs !== lastMs) field = `,"time":"${new Date(atMs).toISOString()}"`;
    lastMs = atMs;
    return field;
  };
}

export type { Logger } from 'pino';

interface LogSettings {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  readonly format: 'auto' | 'json' | 'pretty';
}

export interface Logs {
  readonly log: Logger;
  /** A line of a request, put together a moment later, of the level `info`, in its place among the others: written in batches, of which a crash loses the last. */
  readonly logRequest: (fields: () => string) => void;
}

const STDOUT = 1;
/** Half of what a pipe holds (pipe(7)). */
const BATCH_BYTES = 32 * 1024;
/** A file takes any: each write wakes a thread, and the less often, the less it costs those whose core it runs on (measured). */
const FILE_BATCH_BYTES = 256 * 1024;
const BATCH_MS = 250;
/** Lines for which there is no room are lost: a reader of the log that stands still must not take the memory. */
const WAITING_BYTES_MAX = 16 * 1024 ** 2;
/** At the end of the process, for a reader that is slow. */
export const LAST_WRITES_MS = 300;

export async function openLogs(settings: LogSettings): Promise<Logs> {
  // Asked for in every format: Node's stream makes a pipe non-blocking, where a write to one that nobody reads would never end.
  const isTerminal = process.stdout.isTTY === true;
  const isPretty = settings.format === 'pretty' || (settings.format === 'auto' && isTerminal);
  const options: LoggerOptions = {
    level: settings.level,
    base: null,
    timestamp: timeField(),
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: stdSerializers.err },
  };
  const batches = new LineBatches();
  const pretty = isPretty ? await prettyForm(isTerminal) : null;
  const written = {
    write: (line: string) => batches.write(pretty?.(line) ?? printableJson(line)),
    flush: batches.flush.bind(batches),
  };
  const log = pino(options, written);
  const lineOf = lineMaker();
  return {
    log,
    logRequest: (fields) => {
      if (!log.isLevelEnabled('info')) return;
      const atMs = Date.now();
      const line = (): string => lineOf(fields(), atMs);
      if (pretty === null) batches.writeLater(line);
      else batches.write(pretty(line()));
    },
  };
}

/** Of its content mode `buffer`, which its types do not know. */
type ByteStream = Omit<ReturnType<typeof destination>, 'write'> & { write(bytes: Buffer): boolean };

/**
 * Standard output, in the order of the lines; what waits is written out when the process exits, too. Of bytes: strings
 * it would go through three times, and ask the disk with every flush to have the file.
 */
class LineBatches {
  readonly #batchBytes = fstatSync(STDOUT).isFile() ? FILE_BATCH_BYTES : BATCH_BYTES;
  readonly #lines = new LineBytes(this.#batchBytes, (bytes) => this.#out.write(bytes));
  readonly #out = destination({
    dest: STDOUT,
    sync: false,
    contentMode: 'buffer',
    // It writes what it is given, as soon as it can.
    minLength: 1,
    maxWrite: 2 * this.#batchBytes,
    maxLength: WAITING_BYTES_MAX,
    retryEAGAIN: () => performance.now() < this.#retriesEndMs,
  }) as unknown as ByteStream;
  #retriesEndMs = Number.POSITIVE_INFINITY;
  #isDue = false;

  constructor() {
    // Both before the stream's own listeners: the first of those ends it, the other throws where nobody reads what waits.
    process.prependListener('beforeExit', () => this.#hand());
    process.prependListener('exit', () => {
      this.#retriesEndMs = performance.now() + LAST_WRITES_MS;
      this.#hand();
      try {
        this.#out.flushSync();
      } catch {
        this.#out.destroy();
      }
    });
  }

  write(line: string): void {
    this.#lines.add(() => line);
    this.#hand();
  }

  writeLater(text: () => string): void {
    this.#lines.add(text);
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      this.#hand();
    }, BATCH_MS).unref();
  }

  flush(done: (error?: Error) => void = () => undefined): void {
    this.#hand();
    this.#out.flush(done);
  }

  #hand(): void {
    const lines = this.#lines.take();
    if (lines.length > 0) this.#out.write(lines);
  }
}

/** A daemon in a container never needs it. Its own stream would hold the main thread where nobody reads. */
async function prettyForm(isTerminal: boolean): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  const hasColour = isTerminal && process.env.NO_COLOR === undefined;
  const form = prettyFactory({ colorize: hasColour, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' });
  return (line) => form(JSON.parse(line, shown));
}

/** Foreign text in a value cannot begin a line that looks like the log's own. */
function shown(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = printableLines(value);
  return key === 'stack' ? text : text.replaceAll('\n', '\n    ');
}
