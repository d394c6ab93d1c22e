import { writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { httpServer } from '../helpers/local-server.ts';
import { KEYS, startExporter } from './export-service.ts';

const bench = openBench(afterEach);

interface Received {
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
async function startCollector() {
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

test('staticExport.renew creates one trace per export, which includes the start call, queue, worker, store and swaps of two daemons', async () => {
  const collector = await startCollector();
  const headersFile = join(await bench.folder(), 'headers');
  await writeFile(headersFile, '# of the collector\nX-Collector-Key: secret-of-the-collector\n');
  const traces = { endpoint: `${collector.origin}/`, headersFile };
  // This daemon also serves its own export.
  const service = await startExporter(bench, { traces, staticExport: { enabled: true, from: 'exports' } });
  const keyFile = join(await bench.folder(), 'key');
  await writeFile(keyFile, KEYS.acme);
  const reader = await bench.start({
    deployment: { domain: 'acme' },
    staticExport: { enabled: true, renew: { apiUrl: service.origin, keyFile } },
    traces,
  });
  await reader.until(({ state }) => state === 'ready');
  await service.daemon.until(({ state }) => state === 'ready');
  await fetch(`${reader.site}/guides/start.html`);
  // A stop sends waiting spans.
  await Promise.all([reader.stop(), service.daemon.stop()]);

  const all = collector.spans();
  const start = 'POST /v1/static-export/jobs';
  const call = all.find(({ name }) => name === start);
  const spans = all.filter(({ traceId }) => traceId === call?.traceId);
  const nameOf = (id: string | undefined): string | null => spans.find(({ spanId }) => spanId === id)?.name ?? null;
  const tree = new Set(spans.map(({ name, parentSpanId }) => `${nameOf(parentSpanId)} > ${name}`));
  const steps = ['collect', 'check', 'search', 'describe', 'pack', 'store'];
  expect(tree).toEqual(
    new Set([
      'null > deploy',
      'deploy > POST',
      `POST > ${start}`,
      `${start} > send exports`,
      'send exports > process exports',
      ...steps.map((step) => `process exports > ${step}`),
      'POST > POST /v1/static-export/jobs/{jobId}/bundle',
      // Spans of the daemon that exports.
      'send exports > deploy',
      'deploy > fetch',
      'deploy > extract',
      'deploy > swap',
    ]),
  );
  const swaps = spans.filter(({ name }) => name === 'swap');
  expect(new Set(swaps.map(({ instance }) => instance)).size).toBe(2);
  expect(spans.filter(({ status }) => status !== undefined)).toEqual([]);
  // The other spans belong to the exporter before it could serve. Requests of readers have none.
  const others = new Set(
    all.filter((span) => !spans.includes(span)).map(({ name, status }) => `${name} ${status?.message}`),
  );
  others.delete('deploy Cannot serve "acme": this daemon has no completed export of it');
  expect([...others]).toEqual([]);

  const sent = collector.bodies.join();
  for (const secret of [KEYS.acme, 'signature=', 'secret-of-the-collector', 'guides/start']) {
    expect(sent).not.toContain(secret);
  }
  expect([...collector.keys]).toEqual(['POST /v1/traces secret-of-the-collector']);
});
