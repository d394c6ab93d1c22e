/** Retry-After in milliseconds: seconds or a date (RFC 9110 section 10.2.3); null where it says neither. The caller bounds it. */
export function retryAfterOf(text: string | null, nowMs: number): number | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
