import { nounOf } from '../../../domain/text.ts';

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `1.4 MiB`: three digits at most. */
export function bytesInWords(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

export function countInWords(count: number): string {
  return count.toLocaleString('en-US');
}

export function timeInWords(rfc3339: string): string {
  return `${rfc3339.slice(0, 10)} ${rfc3339.slice(11, 16)} UTC`;
}

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;

/** A time to come, by a wrong clock, is `just now`. */
export function agoInWords(rfc3339: string, now: Date): string {
  const seconds = (now.getTime() - Date.parse(rfc3339)) / 1000;
  if (seconds < MINUTE_S) return 'just now';
  if (seconds < HOUR_S) return ago(seconds / MINUTE_S, 'minute');
  if (seconds < 2 * DAY_S) return ago(seconds / HOUR_S, 'hour');
  return ago(seconds / DAY_S, 'day');
}

function ago(amount: number, unit: string): string {
  const whole = Math.floor(amount);
  return `${countInWords(whole)} ${nounOf(whole, unit)} ago`;
}
