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

interface Told {
  readonly resourceSpans: readonly {
    readonly resource: Pick<Received, 'attributes'>;
    readonly scopeSpans: readonly { readonly spans: readonly Omit<Received, 'instance'>[] }[];
  }[];
}

/** Takes spans as a collector does, and keeps the text of each request. */
async function startCollector() {
  const bodies: string[] = [];
  const keys = new Set<unknown>();
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    bodies.push(await text(request));
    keys.add(`${request.method} ${request.url} ${request.headers['x-collector-key']}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  };
  const server = await httpServer((request, response) => void take(request, response));
  bench.onEnd(() => server.close());
  const spans = (): Received[] =>
    bodies
      .flatMap((body) => (JSON.parse(body) as Told).resourceSpans)
      .flatMap(({ resource, scopeSpans }) => {
        const id = resource.attributes.find(({ key }) => key === 'service.instance.id');
        const instance = String(id?.value.stringValue);
        return scopeSpans.flatMap((each) => each.spans.map((span) => ({ ...span, instance })));
      });
  return { origin: server.origin, bodies, keys, spans };
}

test('a renewal is one trace, from the start call through queue, worker and store to the swaps of two daemons', async () => {
  const collector = await startCollector();
  const headersFile = join(await bench.folder(), 'headers');
  await writeFile(headersFile, '# of the collector\nX-Collector-Key: secret-of-the-collector\n');
  const traces = { endpoint: `${collector.origin}/`, headersFile };
  // It serves what it exports, too.
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
  // A stop sends what waits.
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
      // In the daemon that exports.
      'send exports > deploy',
      'deploy > fetch',
      'deploy > extract',
      'deploy > swap',
    ]),
  );
  const swaps = spans.filter(({ name }) => name === 'swap');
  expect(new Set(swaps.map(({ instance }) => instance)).size).toBe(2);
  expect(spans.filter(({ status }) => status !== undefined)).toEqual([]);
  // Readers have none: the rest is of the exporter, which had nothing yet that it could serve.
  const others = new Set(
    all.filter((span) => !spans.includes(span)).map(({ name, status }) => `${name} ${status?.message}`),
  );
  others.delete('deploy Cannot serve "acme": this daemon has no completed export of it');
  expect([...others]).toEqual([]);

  const told = collector.bodies.join();
  for (const secret of [KEYS.acme, 'signature=', 'secret-of-the-collector', 'guides/start']) {
    expect(told).not.toContain(secret);
  }
  expect([...collector.keys]).toEqual(['POST /v1/traces secret-of-the-collector']);
});
