import { setTimeout as sleep } from 'node:timers/promises';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { SiteConfig } from '../../config/index.ts';
import type { ReleaseRef } from '../../deploy/index.ts';
import { type DocshelfError, statusOf } from '../../domain/errors.ts';
import { printable } from '../../domain/text.ts';
import { mcpServer } from '../../http/mcp/mcp-server.ts';
import { publicOrigin } from '../../http/site/site-routes.ts';
import { type Search, writeAnswer } from '../../search/index.ts';
import { BodyCache } from '../../site/index.ts';
import { StoredVersions, withStoredSearch } from '../stored.ts';
import { siteDocumentation } from './site-documentation.ts';

export interface StdioOptions {
  readonly site: SiteConfig & { readonly domain: string };
  /** Returns the active release. Called for each request, because another release can become active between requests. */
  readonly active: () => Promise<ReleaseRef | null>;
  readonly programVersion: string;
}

/** Maximum bytes of the cached Markdown of pages. An assistant's session reads few pages, but reads them repeatedly. */
const CACHE_BYTES = 16 * 1024 ** 2;

/**
 * Serves documentation to an assistant over stdin and stdout. Reads releases from the data folder, so that the session
 * continues if the daemon restarts or activates another release.
 */
export async function serveOverStdio({ site, active, programVersion }: StdioOptions): Promise<void> {
  const { config, basePath, hosts, domain } = site;
  await withStoredSearch(config, async (stored) => {
    const search: Search = {
      search: async (request) => {
        const current = await active();
        if (current === null) return writeAnswer([]);
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
    const documentation = siteDocumentation(() => documented, new BodyCache(CACHE_BYTES));
    await stdioSession(() => mcpServer({ site: documentation(), programVersion, onFault: printFault }));
  });
}

function printFault(error: DocshelfError): void {
  if (statusOf(error.code) < 500) return;
  process.stderr.write(`${printable(`docshelf: ${error.message} ${error.next ?? ''}`).trimEnd()}\n`);
}

/** Maximum time to send the last responses after the client has closed the input. */
const LAST_RESPONSES_MS_MAX = 60_000;

async function stdioSession(factory: () => ReturnType<typeof mcpServer>): Promise<void> {
  const transport = new PatientTransport();
  serveStdio(factory, {
    transport,
    onerror: (error) => process.stderr.write(`${printable(`docshelf: ${error.message}`)}\n`),
  });
  await transport.closed;
  process.stdin.destroy();
}

type Message = Parameters<StdioServerTransport['send']>[0];

/**
 * Transport that closes only after each request has a response. The MCP package's own transport aborts open requests at the
 * end of the input.
 */
class PatientTransport extends StdioServerTransport {
  /**
   * Requests without a response yet, by request id. Each promise resolves with the response, or if the client cancels the
   * request.
   */
  readonly #pending = new Map<unknown, PromiseWithResolvers<void>>();
  readonly #closing = Promise.withResolvers<void>();

  get closed(): Promise<void> {
    return this.#closing.promise;
  }

  override async start(): Promise<void> {
    const receive = this.onmessage;
    this.onmessage = (message: Message) => {
      if ('method' in message && 'id' in message) this.#pending.set(message.id, Promise.withResolvers());
      else if ('method' in message && message.method === 'notifications/cancelled')
        this.#end(message.params?.requestId);
      receive?.(message);
    };
    await super.start();
  }

  override async send(message: Message): Promise<void> {
    try {
      await super.send(message);
    } finally {
      if (!('method' in message)) this.#end(message.id);
    }
  }

  override async close(): Promise<void> {
    process.stdin.pause();
    const responses = Promise.all([...this.#pending.values()].map(({ promise }) => promise));
    await Promise.race([responses, sleep(LAST_RESPONSES_MS_MAX, undefined, { ref: false })]);
    await super.close();
    this.#closing.resolve();
  }

  #end(id: unknown): void {
    this.#pending.get(id)?.resolve();
    this.#pending.delete(id);
  }
}
