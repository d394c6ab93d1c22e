import { linkWithoutSecrets } from '../../domain/secret.ts';
import type { HttpClient } from '../../net/http-client.ts';
import type { Tracer } from '../../traces/tracer.ts';

/** A client of the export API whose POSTs, the start of a job and its link, carry the trace on. Polls would drown it. */
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
