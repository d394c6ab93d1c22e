import { PassThrough } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { SiteConfig } from '../../config/index.ts';
import type { ReleaseRef } from '../../deploy/index.ts';
import { type DocshelfError, statusOf } from '../../domain/errors.ts';
import { membersOf } from '../../domain/shape.ts';
import { printable } from '../../domain/text.ts';
import { mcpServer } from '../../http/mcp/mcp-server.ts';
import { publicOrigin } from '../../http/site/site-routes.ts';
import type { Search } from '../../search/index.ts';
import { BodyCache } from '../../site/index.ts';
import { StoredVersions, withStoredSearch } from '../stored.ts';
import { siteDocumentation } from './site-documentation.ts';

export interface StdioOptions {
  readonly site: SiteConfig & { readonly domain: string };
  /** Returns the active release. Called for each request, because another release can become active between requests. */
  readonly active: () => Promise<ReleaseRef | null>;
  readonly programVersion: string;
}

/** Maximum bytes of cached Markdown. A session reads few pages, but reads them repeatedly. */
const CACHE_BYTES = 16 * 1024 ** 2;

/** Reads the release from the data folder, so that the session continues if the daemon restarts or activates another release. */
export async function serveOverStdio({ site, active, programVersion }: StdioOptions): Promise<void> {
  const { config, basePath, hosts, domain } = site;
  await withStoredSearch(config, async (stored) => {
    const search: Search = {
      search: async (request) => {
        const current = await active();
        if (current === null) return { results: [] };
        const { digest, version: label } = current;
        await stored.closeOthers();
        return stored.search({ domain, config, digest, label, isActive: true }, request);
      },
    };
    const documented = {
      domain,
      basePath,
      origin: publicOrigin(config.server.publicUrl, hosts),
      search: config.search.enabled ? search : null,
      versions: new StoredVersions(site, active),
    };
    const documentation = siteDocumentation(documented, new BodyCache(CACHE_BYTES));
    await stdioSession(() => mcpServer({ site: documentation, programVersion, onFault: printFault }));
  });
}

function printFault(error: DocshelfError): void {
  if (statusOf(error.code) < 500) return;
  process.stderr.write(`${printable(`docshelf: ${error.message} ${error.next ?? ''}`).trimEnd()}\n`);
}

/** Maximum length of a line in the input. The transport rejects longer lines. */
const LINE_LENGTH_MAX = 10 * 1024 ** 2;
const LAST_ANSWERS_MS_MAX = 60_000;

/** When the input ends, waits until all requests have a response, because the transport of the MCP package would not wait. */
async function stdioSession(factory: () => ReturnType<typeof mcpServer>): Promise<void> {
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

  override async send(message: Parameters<StdioServerTransport['send']>[0]): Promise<void> {
    await super.send(message);
    if ('id' in message && !('method' in message)) this.#asked.answer(message.id);
  }

  override async close(): Promise<void> {
    await super.close();
    this.#close.resolve();
    this.#onEnd();
  }
}

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

  #ask(line: string): void {
    const { id, method, params } = membersOf<{ id: unknown; method: unknown; params: unknown }>(line);
    if (method === 'notifications/cancelled') this.answer((params as { requestId?: unknown } | undefined)?.requestId);
    else if (typeof method === 'string' && id !== undefined) this.#waiting.add(id);
  }
}
