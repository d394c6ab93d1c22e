const SIZE = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;
const DURATION_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function parse(written: unknown, factors: Readonly<Record<string, number>>): number | null {
  if (typeof written !== 'string' && typeof written !== 'number') return null;
  const match = /^(\d+)([A-Za-z]*)$/.exec(String(written));
  const factor = match === null ? undefined : factors[match[2] ?? ''];
  return match === null || factor === undefined ? null : Number(match[1]) * factor;
}

export function parseSize(written: unknown): number | null {
  return parse(written, SIZE);
}

/** Milliseconds of `30s`, or null where the text is no duration. Seconds are the finest unit. */
export function parseDuration(written: unknown): number | null {
  return parse(written, DURATION_MS);
}
