import { randomUUID } from 'node:crypto';
import type { Config } from '../../config/index.ts';
import { counted } from '../../domain/text.ts';
import { NO_TRACES, type Tracer } from '../../traces/tracer.ts';
import type { Logger } from '../log/log.ts';
import { logFailure } from '../log/log-events.ts';
import type { Network } from '../network.ts';

export interface Traces {
  readonly tracer: Tracer;
  stop(): Promise<void>;
}

/** Of what a collector answers nothing is read. */
const ANSWER_BYTES_MAX = 64 * 1024;

/** Where the config names no collector, nothing of it is loaded. */
export async function openTraces(
  { traces: { endpoint } }: Config,
  network: Network,
  log: Logger,
  programVersion: string,
): Promise<Traces> {
  if (endpoint === null) return { tracer: NO_TRACES, stop: async () => undefined };
  const [{ Recorder }, { otlpRequest }, { SpanSender }, { retryAfterOf }] = await Promise.all([
    import('../../traces/recorder.ts'),
    import('../../traces/otlp.ts'),
    import('../../traces/span-sender.ts'),
    import('../../net/retry.ts'),
  ]);
  const resource = {
    'service.name': 'docshelf',
    'service.version': programVersion,
    'service.instance.id': randomUUID(),
  };
  const sender = new SpanSender({
    send: async (spans, signal) => {
      const client = await network.client();
      // One that a reload removed takes them until the restart.
      const base = network.config.traces.endpoint ?? endpoint;
      const url = `${base.replace(/\/+$/, '')}/v1/traces`;
      const headers = { ...headersOf(network.config), 'content-type': 'application/json' };
      const answer = await client.post(url, otlpRequest(spans, resource), { headers, signal });
      await answer.text(ANSWER_BYTES_MAX);
      return { status: answer.status, retryAfterMs: retryAfterOf(answer.header('retry-after'), Date.now()) };
    },
    onAway: (error) => logFailure(log, 'traces', error),
    onBack: (lost) => log.info({ event: 'traces-sent', lost }, `sends traces again, ${counted(lost, 'span')} lost`),
  });
  return { tracer: new Recorder((span) => sender.add(span)), stop: () => sender.stop() };
}

function headersOf({ traces: { headersFile } }: Config): Readonly<Record<string, string>> {
  const lines = headersFile?.text.reveal().split('\n') ?? [];
  const written = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    written.map((line) => {
      const end = line.indexOf(':');
      return [line.slice(0, end).toLowerCase(), line.slice(end + 1).trim()];
    }),
  );
}
