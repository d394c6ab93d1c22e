import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { startCollector } from '../helpers/span-collector.ts';
import { KEYS, startExporter } from './export-service.ts';

const bench = openBench(afterEach);

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
