import { write, writeSync } from 'node:fs';
import { type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import { printableJson, printableLines } from '../../domain/text.ts';

export type { Logger } from 'pino';

interface Logs {
  readonly log: Logger;
  /**
   * Logs a request. Lines are written in batches, so a crash of the process loses the last lines.
   * @param fields function that returns the members of a JSON object as text, without its braces
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
  const out = new Output();
  const pretty = isPretty ? await prettyForm(isTerminal) : null;
  const written = (line: string): string => pretty?.(line) ?? printableJson(line);
  const immediate = { write: (line: string) => out.write(written(line)), flush: out.flush.bind(out) };
  const log = pino(
    {
      level: settings.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: stdSerializers.err },
    },
    immediate,
  );
  return {
    log,
    logRequest: (fields) => {
      if (!log.isLevelEnabled('info')) return;
      const line = `{"level":"info"${stdTimeFunctions.isoTime()},${fields()}}\n`;
      if (pretty === null) out.writeLater(line);
      else out.write(pretty(line));
    },
  };
}

const STDOUT = 1;
/** Delay before request lines are written, because each write wakes a thread. */
const BATCH_MS = 250;
/** Maximum characters that wait for a stalled reader of the log. After that, docshelf discards new lines to limit the memory. */
const WAITING_MAX = 8 * 1024 ** 2;
/** Maximum bytes of one write, half of the capacity of a pipe. At the exit, a write to a full pipe can lose its bytes. */
const WRITE_BYTES_MAX = 32 * 1024;
export const LAST_WRITES_MS = 300;

const RETRY_MS = 100;
const FLUSH_POLL_MS = 10;
/** A flush ends if the reader of the log reads no bytes for this time. */
const STALL_MS = 1_000;

/**
 * Writes lines to standard output in their order, and repeats a failed write. Pino's stream instead ends or blocks the process,
 * for example if the disk of the log file is full.
 */
class Output {
  #lines = '';
  /** Bytes to write before `lines`. The current write, if any, writes the first `WRITE_BYTES_MAX` of them. */
  #bytes = Buffer.alloc(0);
  /** `stalled`: the reader of a pipe does not read. `failed`: another error, after which a flush does not wait for the output. */
  #state: 'idle' | 'writing' | 'stalled' | 'failed' = 'idle';
  #isDue = false;
  /** True if a flush ended because the reader is stalled. The process then exits without waiting for the reader. */
  #isAbandoned = false;

  constructor() {
    process.on('exit', () => this.#writeLast());
  }

  write(line: string): void {
    this.#add(line);
    this.#writeIfIdle();
  }

  writeLater(line: string): void {
    this.#add(line);
    if (this.#lines.length > WRITE_BYTES_MAX) this.#writeIfIdle();
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      this.#writeIfIdle();
    }, BATCH_MS).unref();
  }

  flush(done: () => void, leftMax = Number.POSITIVE_INFINITY, endMs = 0): void {
    this.#writeIfIdle();
    const left = this.#lines.length + this.#bytes.length;
    const untilMs = left < leftMax ? performance.now() + STALL_MS : endMs;
    this.#isAbandoned = performance.now() >= untilMs;
    if (this.#state === 'idle' || this.#state === 'failed' || this.#isAbandoned) done();
    else setTimeout(() => this.flush(done, left, untilMs), FLUSH_POLL_MS);
  }

  #add(line: string): void {
    if (this.#lines.length + this.#bytes.length + line.length <= WAITING_MAX) this.#lines += line;
  }

  #writeIfIdle(): void {
    if (this.#state === 'idle') this.#writeFirst();
  }

  #writeFirst(): void {
    const bytes = this.#first();
    this.#state = bytes.length === 0 ? 'idle' : 'writing';
    if (bytes.length === 0) return;
    write(STDOUT, bytes, (error, written) => {
      if (error === null) {
        this.#bytes = this.#bytes.subarray(written);
        return this.#writeFirst();
      }
      this.#state = isStall(error) ? 'stalled' : 'failed';
      const timer = setTimeout(() => this.#writeFirst(), RETRY_MS);
      if (this.#state === 'failed' || this.#isAbandoned) timer.unref();
    });
  }

  /** Writes the remaining lines of the log while the process exits. */
  #writeLast(): void {
    const endMs = performance.now() + LAST_WRITES_MS;
    // During an asynchronous write, another thread still writes the first bytes, so skip them.
    if (this.#state === 'writing') this.#bytes = this.#bytes.subarray(this.#first().length);
    for (let bytes = this.#first(); bytes.length > 0 && performance.now() < endMs; bytes = this.#first()) {
      try {
        this.#bytes = this.#bytes.subarray(writeSync(STDOUT, bytes));
      } catch (error) {
        if (!isStall(error)) return;
      }
    }
  }

  #first(): Buffer {
    if (this.#bytes.length === 0) {
      this.#bytes = Buffer.from(this.#lines);
      this.#lines = '';
    }
    return this.#bytes.subarray(0, WRITE_BYTES_MAX);
  }
}

const isStall = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EAGAIN';

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
