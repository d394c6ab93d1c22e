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
    base: null,
    timestamp: timeField,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: stdSerializers.err },
  };
  const out = new BatchedOutput();
  const pretty = isPretty ? await prettyForm(isTerminal) : null;
  const written = (line: string): string => pretty?.(line) ?? printableJson(line);
  const immediate = { write: (line: string) => out.write(written(line)), flush: out.flush.bind(out) };
  const log = pino({ ...options, level: settings.level }, immediate);
  return {
    log,
    logRequest: (fields) => {
      if (!log.isLevelEnabled('info')) return;
      const line = `{"level":"info"${timeField()},${fields()}}\n`;
      if (pretty === null) out.writeLater(line);
      else out.write(pretty(line));
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
/** Maximum characters of a batch of log lines. As ASCII text, this is half of the capacity of a pipe (pipe(7)). */
const BATCH_CHARS = 32 * 1024;
const BATCH_MS = 250;
/** Maximum bytes that wait for a stalled reader of the log. After that, docshelf discards new lines to limit the memory. */
const WAITING_BYTES_MAX = 16 * 1024 ** 2;
export const LAST_WRITES_MS = 300;

/** Writes lines in batches, because each write of the stream wakes a thread. */
class BatchedOutput {
  readonly #out = destination({
    dest: STDOUT,
    sync: false,
    // With a minimum length of 1 byte, the stream writes each batch without a delay.
    minLength: 1,
    maxWrite: 2 * BATCH_CHARS,
    maxLength: WAITING_BYTES_MAX,
    retryEAGAIN: () => performance.now() < this.#retriesEndMs,
  });
  #batch = '';
  #retriesEndMs = Number.POSITIVE_INFINITY;
  #isDue = false;

  constructor() {
    // Write the last lines in a listener that runs before the stream's own exit listeners, because these end the stream.
    process.prependListener('beforeExit', () => this.#writeBatch());
    process.prependListener('exit', () => {
      this.#retriesEndMs = performance.now() + LAST_WRITES_MS;
      this.#writeBatch();
      try {
        this.#out.flushSync();
      } catch {
        this.#out.destroy();
      }
    });
  }

  write(line: string): void {
    this.#batch += line;
    this.#writeBatch();
  }

  writeLater(line: string): void {
    this.#batch += line;
    if (this.#batch.length > BATCH_CHARS) this.#writeBatch();
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      this.#writeBatch();
    }, BATCH_MS).unref();
  }

  flush(done?: (error?: Error) => void): void {
    this.#writeBatch();
    this.#out.flush(done);
  }

  #writeBatch(): void {
    if (this.#batch !== '') this.#out.write(this.#batch);
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
