import { compress } from '../serve/body-cache.ts';
import type { Encoding } from '../serve/encoding.ts';

/** Compressed, a few hundred bytes are not fewer packets. */
const COMPRESSED_FROM_BYTES = 1024;

/** A body that is made for one answer, and the headers of its form. */
export async function madeBody(bytes: Uint8Array<ArrayBuffer>, wanted: Encoding) {
  const encoding = bytes.length < COMPRESSED_FROM_BYTES ? 'identity' : wanted;
  const body = encoding === 'identity' ? bytes : await compress(bytes, encoding);
  const coding: Record<string, string> = encoding === 'identity' ? {} : { 'Content-Encoding': encoding };
  return { body, headers: { 'Content-Length': String(body.length), ...coding } };
}
