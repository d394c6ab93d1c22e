import { isIP } from 'node:net';
import { isBundleLink, isFileLink } from '../domain/bundle-link.ts';
import { parseDatabaseUrl } from '../domain/database-address.ts';
import type { TextRule } from './schema-node.ts';

export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'http-url': (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
  link: isFileLink,
  'bundle-link': isBundleLink,
  'database-url': (text) => parseDatabaseUrl(text) !== null,
  cidr: isNetwork,
  'private-place': (text) => isNetwork(text) || /^(?:[A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/.test(text),
};

export function fits(text: string, { pattern, format }: TextRule): boolean {
  if (pattern !== undefined && !new RegExp(pattern).test(text)) return false;
  return format === undefined || FORMATS[format]?.(text) === true;
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
