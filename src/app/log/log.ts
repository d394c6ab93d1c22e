import { write, writeSync } from 'node:fs';
import { type Logger, type LoggerOptions, pino, stdSerializers } from 'pino';
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
  const out = new LineBatches();
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
/** Maximum bytes of one write, half of the capacity of a pipe. At the exit, a write to a full pipe can lose its bytes. */
const WRITE_BYTES_MAX = 32 * 1024;
export const LAST_WRITES_MS = 300;

const RETRY_MS = 100;
const FLUSH_POLL_MS = 10;
/** A flush ends if the reader of the log reads no bytes for this time. */
const STALL_MS = 1_000;

/**
 * Writes bytes to standard output in their order, and repeats a failed write. Pino's stream instead ends or blocks the process,
 * for example if the disk of the log file is full.
 */
class Output {
  #waiting: Buffer[] = [];
  /** Joined bytes before those in `waiting`. The current write, if any, writes the first `WRITE_BYTES_MAX` of them. */
  #joined: Buffer = Buffer.alloc(0);
  #waitingBytes = 0;
  /** `stalled`: the reader of a pipe does not read. `failed`: another error, so that no operation waits for the output. */
  #state: 'idle' | 'writing' | 'stalled' | 'failed' = 'idle';
  /** True if a flush ended because the reader is stalled. The process then exits without waiting for the reader. */
  #isAbandoned = false;

  write(bytes: Buffer): void {
    if (this.#waitingBytes + bytes.length > WAITING_BYTES_MAX) return;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#state === 'idle') this.#writeFirst();
  }

  flush(done: () => void, leftBytes = Number.POSITIVE_INFINITY, endMs = 0): void {
    const untilMs = this.#waitingBytes < leftBytes ? performance.now() + STALL_MS : endMs;
    this.#isAbandoned = performance.now() >= untilMs;
    if (this.#state === 'idle' || this.#state === 'failed' || this.#isAbandoned) done();
    else setTimeout(() => this.flush(done, this.#waitingBytes, untilMs), FLUSH_POLL_MS);
  }

  /** Writes the last bytes while the process exits. */
  writeLast(): void {
    const endMs = performance.now() + LAST_WRITES_MS;
    // Another thread still writes the first bytes.
    if (this.#state === 'writing') this.#remove(this.#first().length);
    for (let bytes = this.#first(); bytes.length > 0 && performance.now() < endMs; bytes = this.#first()) {
      try {
        this.#remove(writeSync(STDOUT, bytes));
      } catch (error) {
        if (!isStall(error)) return;
      }
    }
  }

  #writeFirst(): void {
    const bytes = this.#first();
    this.#state = bytes.length === 0 ? 'idle' : 'writing';
    if (bytes.length === 0) return;
    write(STDOUT, bytes, (error, written) => {
      this.#remove(error === null ? written : 0);
      if (error === null) return this.#writeFirst();
      this.#state = isStall(error) ? 'stalled' : 'failed';
      const timer = setTimeout(() => this.#writeFirst(), RETRY_MS);
      if (this.#state === 'failed' || this.#isAbandoned) timer.unref();
    });
  }

  /** Joins waiting bytes, because thousands of lines can wait, and each write wakes a thread. */
  #first(): Buffer {
    if (this.#joined.length === 0) this.#joined = Buffer.concat(this.#waiting.splice(0));
    return this.#joined.subarray(0, WRITE_BYTES_MAX);
  }

  #remove(written: number): void {
    this.#waitingBytes -= written;
    this.#joined = this.#joined.subarray(written);
  }
}

const isStall = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EAGAIN';

/** Collects log lines into batches, because each write wakes a thread. */
class LineBatches {
  readonly #out = new Output();
  #batch = '';
  #isDue = false;

  constructor() {
    process.on('beforeExit', () => this.#writeBatch());
    process.on('exit', () => {
      this.#writeBatch();
      this.#out.writeLast();
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

  flush(done: () => void): void {
    this.#writeBatch();
    this.#out.flush(done);
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
