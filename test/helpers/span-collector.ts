import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { httpServer } from './local-server.ts';

export interface Received {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status?: { readonly message: string };
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  /** `service.instance.id` of its daemon. */
  readonly instance: string;
}

interface SpanExport {
  readonly resourceSpans: readonly {
    readonly resource: Pick<Received, 'attributes'>;
    readonly scopeSpans: readonly { readonly spans: readonly Omit<Received, 'instance'>[] }[];
  }[];
}

/** Collector that stores the text of each request with spans. */
export async function startCollector() {
  const bodies: string[] = [];
  const keys = new Set<unknown>();
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    bodies.push(await text(request));
    keys.add(`${request.method} ${request.url} ${request.headers['x-collector-key']}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  };
  const server = await httpServer(receive);
  const spans = (): Received[] =>
    bodies
      .flatMap((body) => (JSON.parse(body) as SpanExport).resourceSpans)
      .flatMap(({ resource, scopeSpans }) => {
        const id = resource.attributes.find(({ key }) => key === 'service.instance.id');
        const instance = String(id?.value.stringValue);
        return scopeSpans.flatMap((each) => each.spans.map((span) => ({ ...span, instance })));
      });
  return { origin: server.origin, bodies, keys, spans };
}
