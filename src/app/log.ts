import { destination, type Logger, type LoggerOptions, pino, stdSerializers } from 'pino';
import { lineMaker, timeField } from './log-line.ts';

export type { Logger } from 'pino';

interface LogSettings {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  readonly format: 'auto' | 'json' | 'pretty';
}

export interface Logs {
  readonly log: Logger;
  /** A line of a request, of the level `info`, in its place among the others: written in batches, of which a crash loses the last. */
  readonly logRequest: (fields: string) => void;
  /** Such lines of another process, whole. */
  readonly logLines: (text: string) => void;
}

const BATCH_BYTES = 32 * 1024;
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
  const inPretty = {
    write: (line: string) => batches.write(pretty?.(line) ?? line),
    flush: batches.flush.bind(batches),
  };
  const log = pino(options, pretty === null ? batches : inPretty);
  const lineOf = lineMaker();
  const logLines = (text: string): void => {
    if (!log.isLevelEnabled('info')) return;
    if (pretty === null) batches.writeLater(text);
    else for (const line of text.trimEnd().split('\n')) batches.write(pretty(`${line}\n`));
  };
  return { log, logLines, logRequest: (fields) => logLines(lineOf(fields)) };
}

/** Standard output, in the order of the lines; what waits is written out when the process exits, too. */
class LineBatches {
  readonly #out = destination({
    dest: 1,
    sync: false,
    minLength: BATCH_BYTES,
    maxWrite: 2 * BATCH_BYTES,
    maxLength: WAITING_BYTES_MAX,
    retryEAGAIN: () => performance.now() < this.#retriesEndMs,
  });
  #retriesEndMs = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
  #isWriting = false;
  /** Lines of requests: with each one that it is given, the stream measures anew all that it has gathered itself. */
  #gathered = '';
  /** Two: one that meets a write under way ends with it, and leaves what came after. */
  #flushesDue = 0;

  constructor() {
    // Before the stream's own listener, which writes what waits, and throws where nobody reads it.
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
    this.#hand();
    this.#out.write(line);
    this.#writeSoon();
  }

  writeLater(line: string): void {
    this.#gathered += line;
    if (this.#gathered.length >= BATCH_BYTES) this.#hand();
    else this.#timer ??= setTimeout(() => this.#writeSoon(), BATCH_MS).unref();
  }

  flush(done: (error?: Error) => void = () => undefined): void {
    this.#hand();
    this.#out.flush(done);
  }

  #hand(): void {
    if (this.#gathered === '') return;
    this.#out.write(this.#gathered);
    this.#gathered = '';
  }

  #writeSoon(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#hand();
    this.#flushesDue = 2;
    this.#writeOut();
  }

  #writeOut(): void {
    if (this.#isWriting || this.#flushesDue === 0) return;
    this.#isWriting = true;
    this.#flushesDue -= 1;
    this.#out.flush(() => {
      this.#isWriting = false;
      this.#writeOut();
    });
  }
}

/** A daemon in a container never needs it. Its own stream would hold the main thread where nobody reads. */
async function prettyForm(isTerminal: boolean): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  const hasColour = isTerminal && process.env.NO_COLOR === undefined;
  return prettyFactory({ colorize: hasColour, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' });
}
