import { randomUUID } from 'node:crypto';
import type { Config } from '../config/index.ts';
import { linkWithoutSecrets } from '../domain/secret.ts';
import { counted, headersIn } from '../domain/text.ts';
import type { HttpClient } from '../net/http-client.ts';
import { NO_TRACES, type Tracer } from '../traces/tracer.ts';
import type { Logger } from './log/log.ts';
import { logFailure } from './log/log-events.ts';
import type { Network } from './network.ts';

export type Traces = { readonly tracer: Tracer; stop(): Promise<void> };

const ANSWER_BYTES_MAX = 64 * 1024;

export async function openTraces(
  { traces: { endpoint } }: Config,
  network: Network,
  log: Logger,
  programVersion: string,
): Promise<Traces> {
  if (endpoint === null) return { tracer: NO_TRACES, stop: async () => undefined };
  const [{ otlpRequest, Recorder, SpanSender }, { retryAfterOf }] = await Promise.all([
    import('../traces/recorder.ts'),
    import('../net/retry.ts'),
  ]);
  const resource = {
    'service.name': 'docshelf',
    'service.version': programVersion,
    'service.instance.id': randomUUID(),
  };
  const sender = new SpanSender({
    send: async (spans, signal) => {
      const client = await network.client();
      // If a reload removed the trace collector from the config, keep sending spans to the former collector until the restart.
      const base = network.config.traces.endpoint ?? endpoint;
      const url = `${base.replace(/\/+$/, '')}/v1/traces`;
      const headers = {
        ...headersIn(network.config.traces.headersFile?.lines ?? []),
        'content-type': 'application/json',
      };
      const answer = await client.post(url, otlpRequest(spans, resource), { headers, signal });
      await answer.text(ANSWER_BYTES_MAX);
      return { status: answer.status, retryAfterMs: retryAfterOf(answer.header('retry-after'), Date.now()) };
    },
    onAway: (error) => logFailure(log, 'traces', error),
    onBack: (lost) => log.info({ event: 'traces-sent', lost }, `resumed sending traces, lost ${counted(lost, 'span')}`),
  });
  return { tracer: new Recorder((span) => sender.add(span)), stop: () => sender.stop() };
}

/** Sends the trace context only with POST requests (start of an export, bundle link). Polls would flood the trace. */
export function tracedClient(client: HttpClient, tracer: Tracer): Pick<HttpClient, 'get' | 'post'> {
  return {
    get: (link, options) => client.get(link, options),
    post: (link, body, options) => {
      const url = linkWithoutSecrets(typeof link === 'string' ? link : link.reveal());
      const facts = { 'http.request.method': 'POST', 'url.full': url, 'server.address': new URL(url).hostname };
      return tracer.span('POST', { kind: 'client', facts }, async (span) => {
        const { traceparent } = tracer;
        const headers = { ...options.headers, ...(traceparent === null ? {} : { traceparent }) };
        const answer = await client.post(link, body, { ...options, headers });
        span.note({ 'http.response.status_code': answer.status });
        if (answer.status >= 400) span.note({ 'error.type': String(answer.status) });
        return answer;
      });
    },
  };
}
