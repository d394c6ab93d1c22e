import type { MiddlewareHandler } from 'hono';
import type { Tracer } from '../../traces/tracer.ts';
import type { ApiEnv } from './auth.ts';

/** A server span of each call of an operation, below the caller's where the request names one (OpenTelemetry's conventions for HTTP). */
export function traceCalls(tracer: Tracer, path: string): MiddlewareHandler<ApiEnv> {
  return (c, next) => {
    const { method } = c.req;
    const parent = c.req.header('traceparent') ?? null;
    const facts = { 'http.request.method': method, 'http.route': path };
    return tracer.span(`${method} ${path}`, { kind: 'server', parent, facts }, async (span) => {
      await next();
      const { status } = c.res;
      // A refusal is the caller's fault, and no error of this span.
      if (status >= 500) span.fail(c.error);
      span.note({ 'http.response.status_code': status });
    });
  };
}
