import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type DocumentedSite, siteDocumentation } from '../../../src/app/assistants/site-documentation.ts';
import type { ErrorCode } from '../../../src/domain/errors.ts';
import { type ReleaseView, versionRoot } from '../../../src/domain/release.ts';
import { type Listener, openListener } from '../../../src/http/listener/listener.ts';
import { type McpEndpointOptions, mcpEndpoint } from '../../../src/http/mcp/mcp-endpoint.ts';
import { BodyCache, SiteServer, SiteSnapshot, type SnapshotOptions } from '../../../src/site/index.ts';
import { NO_RULES, readSiteRules, type SiteRules } from '../../../src/web/rules/index.ts';
import { type Files, releases } from '../../site/helpers.ts';
import { siteApp } from '../site/site-example.ts';

/** Adds Markdown files to pages. Each contains the path of its page; that of `long.html` is long. */
export function withMarkdown(files: Files): Files {
  const pages = Object.keys(files).filter((path) => path.endsWith('.html'));
  const textOf = (path: string): string => (path === 'long.html' ? '😀'.repeat(40_000) : `# ${path}\n`);
  return { ...files, ...Object.fromEntries(pages.map((path) => [`${path}.md`, textOf(path)])) };
}

function rulesOf({ files, siteDir }: ReleaseView): SiteRules {
  if (!files.has('_redirects')) return NO_RULES;
  return readSiteRules(new Map([['_redirects', readFileSync(join(siteDir, '_redirects'))]]));
}

export interface AssistedSite {
  readonly url: string;
  /** Codes of the reported errors, oldest first. */
  readonly faults: readonly ErrorCode[];
  use(release: ReleaseView | null): void;
  send(init?: RequestInit, path?: string): Promise<Response>;
  /** Sends one message. @returns its response */
  call(method: string, params?: object): Promise<Answered>;
  /** Calls a tool and returns its result. */
  tool(name: string, args?: object): Promise<NonNullable<Answered['result']>>;
  connect(mode: 'legacy' | 'auto', headers?: Readonly<Record<string, string>>): Promise<Client>;
}

export interface Answered {
  readonly result?: { readonly isError?: boolean; readonly content?: readonly { readonly text: string }[] } & Record<
    string,
    unknown
  >;
  readonly error?: { readonly code: number; readonly message: string };
}

export const JSON_BOTH = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Sites with an MCP endpoint on real listeners. */
export class AssistantBench {
  readonly #ends: (() => Promise<unknown>)[] = [];

  release(files: Files, version = 'v1'): ReleaseView {
    return releases.make(files, { version });
  }

  async open(
    release: ReleaseView | null,
    {
      form,
      kept = [],
      ...changes
    }: Partial<McpEndpointOptions & DocumentedSite> & {
      form?: SnapshotOptions;
      /** Releases in addition to the active one. */
      kept?: readonly ReleaseView[];
    } = {},
  ): Promise<AssistedSite> {
    const { basePath = '/' } = changes;
    const faults: ErrorCode[] = [];
    const bodies = new BodyCache(1024 ** 2);
    const site: { current: SiteSnapshot | null } = { current: null };
    const server = new SiteServer(bodies, site);
    const snapshotOf = (each: ReleaseView, at: string): SiteSnapshot =>
      new SiteSnapshot(each, [], { trailingSlash: 'auto', ...form, basePath: at }, rulesOf(each));
    const use = (next: ReleaseView | null): void => {
      site.current = next && snapshotOf(next, basePath);
    };
    use(release);
    const documented: DocumentedSite = {
      domain: 'acme',
      basePath,
      origin: null,
      search: null,
      versions: {
        at: async (version) => {
          if (version === null || version === server.current?.version) return server.current;
          const found = kept.find((each) => each.version === version);
          return found === undefined ? null : snapshotOf(found, versionRoot(basePath, version));
        },
        labels: async () => [server.current, ...kept].flatMap((each) => each?.version ?? []),
      },
      ...changes,
    };
    const mcp = mcpEndpoint({
      site: siteDocumentation(() => documented, bodies),
      place: { publicUrl: null, hosts: [] },
      trustedProxies: [],
      programVersion: '0.0.0',
      metrics: { onError: (code) => faults.push(code) },
      ...changes,
    });
    const app = siteApp({ server, basePath, mcp: () => mcp });
    const listener: Listener = await openListener({
      name: 'site',
      fetch: (request, env) => app.fetch(request, env),
      host: '127.0.0.1',
      port: 0,
    });
    this.#ends.push(() => listener.stop(0));
    return this.#client(listener.url, `${basePath}_docshelf/mcp`, faults, use);
  }

  #client(origin: string, endpoint: string, faults: readonly ErrorCode[], use: AssistedSite['use']): AssistedSite {
    const send = (init: RequestInit = {}, path = endpoint): Promise<Response> => fetch(origin + path, init);
    const call: AssistedSite['call'] = async (method, params) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      return messageOf(await send({ method: 'POST', headers: JSON_BOTH, body }));
    };
    return {
      url: origin + endpoint,
      faults,
      use,
      send,
      call,
      tool: async (name, args) => (await call('tools/call', { name, arguments: args })).result ?? {},
      connect: async (mode, headers = {}) => {
        const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
        await client.connect(
          new StreamableHTTPClientTransport(new URL(origin + endpoint), { requestInit: { headers } }),
        );
        this.#ends.push(() => client.close());
        return client;
      },
    };
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
  }
}

/** Reads a response, as JSON or as one event. */
export async function messageOf(response: Response): Promise<Answered> {
  const text = await response.text();
  const data = /^data: (.*)$/m.exec(text)?.[1];
  return JSON.parse(data ?? text) as Answered;
}

/** Content of a tool's result: its first block as JSON, and the text of the others. */
export function contentOf({ content }: { readonly content?: unknown }): {
  facts: Record<string, unknown>;
  text: string;
} {
  const [first, second] = content as readonly { readonly text: string }[];
  return { facts: JSON.parse(first?.text ?? '') as Record<string, unknown>, text: second?.text ?? '' };
}
