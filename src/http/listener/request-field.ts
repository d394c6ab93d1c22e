import type { IncomingHttpHeaders } from 'node:http';

/** All lines of a field as one (RFC 9110, section 5.3), by its name in lower case. */
export function requestField(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
