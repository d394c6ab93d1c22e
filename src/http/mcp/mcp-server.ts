import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, Server } from '@modelcontextprotocol/server';
import { type DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import type { Documentation } from './documentation.ts';
import { listResources, readResource, resourceTemplates } from './resources.ts';
import { TOOLS } from './tools.ts';

export interface McpServerOptions {
  readonly site: Documentation;
  readonly programVersion: string;
  /** Told of each fault; the assistant is told it, too. */
  readonly onFault: (error: DocshelfError) => void;
}

/** Nothing is asked of clients, so nothing that they answer is checked; its own would be made for each request. */
const NO_VALIDATOR = {
  getValidator: (): never => {
    throw new Error('docshelf elicits nothing');
  },
};

const NOT_THERE: ReadonlySet<string> = new Set(['not_found', 'version_not_found']);

/** They change nothing, and know this site alone. */
const ANNOTATIONS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** One for each HTTP request, or for a connection over stdio: it keeps nothing. */
export function mcpServer({ site, programVersion, onFault }: McpServerOptions): Server {
  const server = new Server(
    { name: 'docshelf', title: `Documentation of ${site.domain}`, version: programVersion },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: `The documentation of ${site.domain}. Search it first, then read the pages that the results name with read_page.`,
      jsonSchemaValidator: NO_VALIDATOR,
    },
  );
  const told = (cause: unknown): DocshelfError => {
    const error = toDocshelfError(cause);
    onFault(error);
    return error;
  };

  server.setRequestHandler('tools/list', () => ({
    tools: TOOLS.map(({ run: _, inputSchema, ...tool }) => ({
      ...tool,
      inputSchema: inputSchema as { type: 'object' },
      annotations: ANNOTATIONS,
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
    const tool = TOOLS.find(({ name }) => name === params.name);
    if (tool === undefined) {
      const names = TOOLS.map(({ name }) => name).join(', ');
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool; there are ${names}.`);
    }
    try {
      const texts = await tool.run(site, params.arguments ?? {}, signal);
      return { content: texts.map(textBlock) };
    } catch (cause) {
      // As a result: the assistant reads it, and mends its call.
      return { content: [textBlock(sentenceOf(told(cause)))], isError: true };
    }
  });
  const failed = (cause: unknown, uri?: string): never => {
    const error = told(cause);
    if (NOT_THERE.has(error.code) && uri !== undefined) throw new ResourceNotFoundError(uri, error.message);
    const isTheirs = error.code === 'bad_request';
    const code = isTheirs ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
    throw new ProtocolError(code, sentenceOf(error));
  };
  server.setRequestHandler('resources/list', ({ params }) => listResources(site, params?.cursor).catch(failed));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: resourceTemplates(site) }));
  server.setRequestHandler('resources/read', ({ params: { uri } }, { mcpReq: { signal } }) =>
    readResource(site, uri, signal).catch((cause: unknown) => failed(cause, uri)),
  );
  return server;
}

const textBlock = (text: string) => ({ type: 'text' as const, text });

function sentenceOf({ code, message, next }: DocshelfError): string {
  // An unforeseen fault may name anything: it goes to the log.
  if (code === 'internal') return 'Cannot answer: docshelf has failed; its log has the cause.';
  return next === undefined ? `${message}.` : `${message}. ${next}`;
}
