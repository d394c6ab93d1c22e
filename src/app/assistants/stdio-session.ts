import { PassThrough } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { printable } from '../../domain/text.ts';
import type { mcpServer } from '../../http/mcp/mcp-server.ts';

/** As the transport has it, which gives up a line that is longer. */
const LINE_LENGTH_MAX = 10 * 1024 ** 2;
/** A search or a page takes seconds at the most. */
const LAST_ANSWERS_MS_MAX = 60_000;

type Message = Parameters<StdioServerTransport['send']>[0];

/** Ends with standard input, once all that was asked is answered: the package's own ends at once, and drops it. */
export async function stdioSession(factory: () => ReturnType<typeof mcpServer>): Promise<void> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const asked = new AskedIds();
  const input = new PassThrough();
  process.stdin.on('data', (chunk: Buffer) => {
    asked.read(chunk);
    input.write(chunk);
  });
  for (const event of ['end', 'close', 'error']) process.stdin.once(event, end);
  const transport = new CountingTransport(asked, input, end);
  const handle = serveStdio(factory, {
    transport,
    onerror: (error) => process.stderr.write(`${printable(`docshelf: ${error.message}`)}\n`),
  });
  await ended;
  await Promise.race([asked.answered(), transport.closed, sleep(LAST_ANSWERS_MS_MAX, undefined, { ref: false })]);
  await handle.close();
  process.stdin.destroy();
}

class CountingTransport extends StdioServerTransport {
  readonly #asked: AskedIds;
  readonly #close = Promise.withResolvers<void>();
  readonly #onEnd: () => void;

  constructor(asked: AskedIds, input: PassThrough, onEnd: () => void) {
    super(input);
    this.#asked = asked;
    this.#onEnd = onEnd;
  }

  get closed(): Promise<void> {
    return this.#close.promise;
  }

  override async send(message: Message): Promise<void> {
    await super.send(message);
    if ('id' in message && !('method' in message)) this.#asked.answer(message.id);
  }

  override async close(): Promise<void> {
    await super.close();
    this.#close.resolve();
    this.#onEnd();
  }
}

/** Ids of requests that wait for their answers. */
class AskedIds {
  readonly #waiting = new Set<unknown>();
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #onAnswer: () => void = () => undefined;

  read(chunk: Buffer): void {
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, LINE_LENGTH_MAX);
    for (const line of lines) this.#ask(line);
  }

  answer(id: unknown): void {
    this.#waiting.delete(id);
    this.#onAnswer();
  }

  async answered(): Promise<void> {
    while (this.#waiting.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onAnswer = resolve;
      });
    }
  }

  /** What is no message is answered by nobody, nor is what was cancelled. */
  #ask(line: string): void {
    let message: {
      readonly id?: unknown;
      readonly method?: unknown;
      readonly params?: { readonly requestId?: unknown };
    };
    try {
      message = JSON.parse(line) ?? {};
    } catch {
      return;
    }
    if (message.method === 'notifications/cancelled') this.answer(message.params?.requestId);
    else if (typeof message.method === 'string' && message.id !== undefined) this.#waiting.add(message.id);
  }
}
