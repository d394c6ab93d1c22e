import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, Server } from '@modelcontextprotocol/server';
import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import { decodeOrKeep } from '../../web/escape.ts';
import { type Documentation, parseAddress, resourceTemplate, resourceUri, servedRelease } from './documentation.ts';
import { cut, noPage, TOOLS } from './tools.ts';

interface McpServerOptions {
  readonly site: Documentation;
  readonly programVersion: string;
  readonly onFault: (error: DocshelfError) => void;
}

/** Keeps the MCP package from creating a validator of client responses for each call. docshelf sends no requests to clients. */
const NO_VALIDATOR = {
  getValidator: (): never => {
    throw new Error('docshelf does not send requests to clients');
  },
};

const NOT_THERE: ReadonlySet<string> = new Set(['not_found', 'version_not_found']);

const ANNOTATIONS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

export function mcpServer({ site, programVersion, onFault }: McpServerOptions): Server {
  const server = new Server(
    { name: 'docshelf', title: `Documentation of ${site.domain}`, version: programVersion },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: `The documentation of ${site.domain}. First use search, then read the pages of the results with read_page.`,
      jsonSchemaValidator: NO_VALIDATOR,
    },
  );
  const reported = (cause: unknown): DocshelfError => {
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
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool. Use one of these: ${names}.`);
    }
    try {
      const texts = await tool.run(site, params.arguments ?? {}, signal);
      return { content: texts.map(textBlock) };
    } catch (cause) {
      // Return the error as a result, so that the assistant can read the error and correct its call.
      return { content: [textBlock(sentenceOf(reported(cause)))], isError: true };
    }
  });
  const failed = (cause: unknown, uri?: string): never => {
    const error = reported(cause);
    if (NOT_THERE.has(error.code) && uri !== undefined) throw new ResourceNotFoundError(uri, error.message);
    const isTheirs = error.code === 'bad_request';
    const code = isTheirs ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
    throw new ProtocolError(code, sentenceOf(error));
  };
  server.setRequestHandler('resources/list', ({ params }) => listResources(site, params?.cursor).catch(failed));
  const description = 'A page of the documentation as Markdown, by its path.';
  const template = {
    uriTemplate: resourceTemplate(site),
    name: 'page',
    title: 'Page',
    description,
    mimeType: MARKDOWN,
  };
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [template] }));
  server.setRequestHandler('resources/read', ({ params: { uri } }, { mcpReq: { signal } }) =>
    readResource(site, uri, signal).catch((cause: unknown) => failed(cause, uri)),
  );
  return server;
}

const textBlock = (text: string) => ({ type: 'text' as const, text });

function sentenceOf({ code, message, next }: DocshelfError): string {
  // Hide the message of an unexpected error, because it can contain secrets. Only the log contains this message.
  if (code === 'internal') return 'Cannot process the call: docshelf failed. Its log contains the cause.';
  return next === undefined ? `${message}.` : `${message}. ${next}`;
}

const LIST_LENGTH = 100;
/** Maximum UTF-16 code units of a resource. The tool read_page returns the rest. */
const TEXT_MAX = 200_000;
const MARKDOWN = 'text/markdown';

/** Lists the pages in parts. @param cursor path of the last page in the previous part; it stays valid for another version */
async function listResources(site: Documentation, cursor: string | undefined) {
  const release = await site.release(null);
  if (release === null) return { resources: [] };
  const after = cursor === undefined ? '' : decodeOrKeep(cursor);
  if (cursor !== undefined && !after.startsWith('/')) {
    throw new DocshelfError('bad_request', 'Cannot list pages: the cursor is not from a previous response');
  }
  const pages = (await release.pages()).filter((path) => path > after);
  const shown = pages.slice(0, LIST_LENGTH);
  const titles = await release.titles(shown);
  const resources = shown.map((path, at) => {
    const title = titles[at] ?? null;
    return { uri: resourceUri(path, site), name: path, ...(title !== null && { title }), mimeType: MARKDOWN };
  });
  const last = shown.at(-1);
  return {
    resources,
    ...(pages.length > LIST_LENGTH && last !== undefined && { nextCursor: encodeURIComponent(last) }),
  };
}

async function readResource(site: Documentation, uri: string, signal: AbortSignal) {
  const place = parseAddress(uri, site);
  const page = place && (await (await servedRelease(site, place.version)).read(place.target, signal));
  if (page === null) throw noPage(uri);
  const { markdown } = page;
  const text = cut(markdown, 0, TEXT_MAX);
  const note = `\n\n[The page continues: it has ${markdown.length} characters. Read the rest with read_page from offset ${text.length}.]\n`;
  return { contents: [{ uri, mimeType: MARKDOWN, text: text.length < markdown.length ? text + note : text }] };
}
