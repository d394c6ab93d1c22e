import { type DestinationStream, destination, type Logger, type LoggerOptions, pino, stdSerializers } from 'pino';

export type { Logger } from 'pino';

interface LogSettings {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  readonly format: 'auto' | 'json' | 'pretty';
}

export interface Logs {
  readonly log: Logger;
  /** Lines of requests, in their place among the others: written in batches, of which a crash loses the last. */
  readonly requestLog: Logger;
}

const BATCH_BYTES = 32 * 1024;
const BATCH_MS = 250;
/** Lines for which there is no room are lost: a reader of the log that stands still must not take the memory. */
const WAITING_BYTES_MAX = 16 * 1024 ** 2;
/** At the end of the process, for a reader that is slow. */
const LAST_WRITES_MS = 1_000;

export async function openLogs(settings: LogSettings): Promise<Logs> {
  const isPretty = settings.format === 'pretty' || (settings.format === 'auto' && process.stdout.isTTY === true);
  const options: LoggerOptions = {
    level: settings.level,
    base: null,
    timestamp: timeField(),
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: stdSerializers.err },
  };
  if (isPretty) {
    const log = pino(options, await prettyStream());
    return { log, requestLog: log };
  }
  const lines = new LineBatches();
  const atOnce = { write: (line: string) => lines.write(line, 0), flush: lines.flush };
  const inBatches = { write: (line: string) => lines.write(line, BATCH_MS), flush: lines.flush };
  return { log: pino(options, atOnce), requestLog: pino(options, inBatches) };
}

/** Many lines are of one millisecond. */
function timeField(): () => string {
  let atMs = 0;
  let field = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs !== atMs) field = `,"time":"${new Date(nowMs).toISOString()}"`;
    atMs = nowMs;
    return field;
  };
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
  /** Two: one that meets a write under way ends with it, and leaves what came after. */
  #flushesDue = 0;

  constructor() {
    // Before the stream's own listener, which writes what waits, and would wait for ever.
    process.prependListener('exit', () => {
      this.#retriesEndMs = performance.now() + LAST_WRITES_MS;
    });
  }

  write(line: string, waitMs: number): void {
    this.#out.write(line);
    if (waitMs === 0) this.#writeSoon();
    else this.#timer ??= setTimeout(() => this.#writeSoon(), waitMs).unref();
  }

  readonly flush = (done: (error?: Error) => void = () => undefined): void => this.#out.flush(done);

  #writeSoon(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
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

/** A daemon in a container never needs it. */
async function prettyStream(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  const hasColour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
  return pretty({ colorize: hasColour, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname', sync: true });
}
