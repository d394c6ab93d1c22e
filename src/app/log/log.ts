import { fstatSync } from 'node:fs';
import { destination, type Logger, type LoggerOptions, pino, stdSerializers } from 'pino';
import { printableJson, printableLines } from '../../domain/text.ts';

export type { Logger } from 'pino';

interface Logs {
  readonly log: Logger;
  /**
   * Logs a request. Lines are written in batches, so a crash of the process loses the last lines.
   * @param fields returns the members of a JSON object as text, without its braces
   */
  readonly logRequest: (fields: () => string) => void;
}

export async function openLogs(settings: {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  readonly format: 'auto' | 'json' | 'pretty';
}): Promise<Logs> {
  // Always access `process.stdout`, because this makes Node switch a pipe to non-blocking writes. A blocking write never ends
  // if no process reads the pipe.
  const isTerminal = process.stdout.isTTY === true;
  const isPretty = settings.format === 'pretty' || (settings.format === 'auto' && isTerminal);
  const timeField = createTimeField();
  const options: LoggerOptions = {
    level: settings.level,
    base: null,
    timestamp: timeField,
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
  return {
    log,
    logRequest: (fields) => {
      if (!log.isLevelEnabled('info')) return;
      const start = `{"level":"info"${timeField()},`;
      if (pretty === null) batches.writeLater({ start, fields });
      else batches.write(pretty(`${start}${fields()}}\n`));
    },
  };
}

/** Creates a function that returns the time field of a log line. Caches the field, because many lines have the same millisecond. */
function createTimeField(): () => string {
  let lastMs = 0;
  let field = '';
  return () => {
    const atMs = Date.now();
    if (atMs !== lastMs) field = `,"time":"${new Date(atMs).toISOString()}"`;
    lastMs = atMs;
    return field;
  };
}

const STDOUT = 1;
/** Maximum characters of a batch of log lines for a pipe. As ASCII text, this is half of the capacity of a pipe (pipe(7)). */
const BATCH_CHARS = 32 * 1024;
/** Maximum characters of a batch of log lines for a file. Each write wakes a thread, so large batches save processor time. */
const FILE_BATCH_CHARS = 256 * 1024;
const BATCH_MS = 250;
/** Maximum log lines whose text is not built yet, because each such line keeps its request in memory. */
const UNBUILT_MAX = 100;
/** Maximum bytes that wait for a stalled reader of the log. After that, docshelf discards new lines to limit the memory. */
const WAITING_BYTES_MAX = 16 * 1024 ** 2;
export const LAST_WRITES_MS = 300;

interface UnbuiltLine {
  readonly start: string;
  readonly fields: () => string;
}

/** Type of Pino's stream if its `contentMode` is `buffer`, which Pino's types do not describe. */
type ByteStream = Omit<ReturnType<typeof destination>, 'write'> & { write(bytes: Buffer): boolean };

/**
 * Collects log lines into batches, because the stream copies each string three times. With batches, a request takes 20 µs
 * instead of 22 µs.
 */
class LineBatches {
  readonly #batchChars = fstatSync(STDOUT).isFile() ? FILE_BATCH_CHARS : BATCH_CHARS;
  readonly #out = destination({
    dest: STDOUT,
    sync: false,
    contentMode: 'buffer',
    // With a minimum length of 1 byte, the stream writes each batch without a delay.
    minLength: 1,
    maxWrite: 2 * this.#batchChars,
    maxLength: WAITING_BYTES_MAX,
    retryEAGAIN: () => performance.now() < this.#retriesEndMs,
  }) as unknown as ByteStream;
  /** Next log lines, whose text is built later, so that a request does not wait for its log line. */
  readonly #unbuilt: UnbuiltLine[] = [];
  #batch = '';
  #retriesEndMs = Number.POSITIVE_INFINITY;
  #isDue = false;

  constructor() {
    // Write the last lines in a listener that runs before the stream's own exit listeners, because these end the stream.
    process.prependListener('beforeExit', () => this.#writeOut());
    process.prependListener('exit', () => {
      this.#retriesEndMs = performance.now() + LAST_WRITES_MS;
      this.#writeOut();
      try {
        this.#out.flushSync();
      } catch {
        this.#out.destroy();
      }
    });
  }

  write(line: string): void {
    this.#build();
    this.#batch += line;
    this.#writeBatch();
  }

  writeLater(line: UnbuiltLine): void {
    if (this.#unbuilt.push(line) === UNBUILT_MAX) this.#build();
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      this.#writeOut();
    }, BATCH_MS).unref();
  }

  flush(done: (error?: Error) => void = () => undefined): void {
    this.#writeOut();
    this.#out.flush(done);
  }

  #build(): void {
    for (const { start, fields } of this.#unbuilt.splice(0)) {
      const line = `${start}${fields()}}\n`;
      if (this.#batch.length + line.length > this.#batchChars) this.#writeBatch();
      this.#batch += line;
    }
  }

  #writeOut(): void {
    this.#build();
    this.#writeBatch();
  }

  #writeBatch(): void {
    if (this.#batch !== '') this.#out.write(Buffer.from(this.#batch));
    this.#batch = '';
  }
}

/**
 * Loads the formatter of `pino-pretty` only when needed. Does not use its stream, which blocks the main thread if no process
 * reads the log.
 */
async function prettyForm(isTerminal: boolean): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  const hasColour = isTerminal && process.env.NO_COLOR === undefined;
  const form = prettyFactory({ colorize: hasColour, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' });
  return (line) => form(JSON.parse(line, shown));
}

function shown(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = printableLines(value);
  return key === 'stack' ? text : text.replaceAll('\n', '\n    ');
}
