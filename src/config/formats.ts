import { isIP } from 'node:net';
import { parseOciReference } from '../domain/oci-reference.ts';

/** Whether the text is a URL of one of the protocols (`https:`). */
export function isUrl(text: string, protocols: readonly string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol);
}

/** Whether the text is a link to a file. */
export function isLink(text: string): boolean {
  return isUrl(text, ['http:', 'https:', 'file:']);
}

/** Whether the text is a link that a bundle can be fetched from. */
export function isBundleLink(text: string): boolean {
  return isLink(text) || parseOciReference(text) !== null;
}

/** Whether the text is an IP address, or a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
