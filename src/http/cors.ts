import type { MiddlewareHandler } from 'hono';

/**
 * CORS as contract section 5 has it (Fetch standard, section 3.2): open to every origin, because the key is public by
 * design, and without credentials, because there are none but the key. On faults too, or a script could not read them.
 */

/** `*` does not stand for Authorization (Fetch standard, section 3.2.4): it is named. */
const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'POST',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type',
  // A day. Browsers cut it to their own bound, two hours in some.
  'Access-Control-Max-Age': '86400',
};
const EXPOSED = 'RateLimit, RateLimit-Policy, Retry-After, X-Request-Id';

export function openToAllOrigins(methods: string): MiddlewareHandler {
  return async (c, next) => {
    if (c.req.method === 'OPTIONS') {
      c.res = new Response(null, { status: 204, headers: { ...PREFLIGHT, Allow: methods } });
    } else {
      await next();
      c.res.headers.set('Access-Control-Expose-Headers', EXPOSED);
    }
    c.res.headers.set('Access-Control-Allow-Origin', '*');
  };
}
