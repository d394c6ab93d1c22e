import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import type { Answer } from './site-client.ts';

const gunzipAsync = promisify(gunzip);
const brotliDecompressAsync = promisify(brotliDecompress);

/** Decodes the Content-Encoding of a body. @throws Error if the body is incomplete */
export async function decodeBody({ headers, body }: Answer): Promise<Buffer> {
  const encoding = headers['content-encoding'];
  if (encoding === undefined) return body;
  if (encoding === 'gzip') return gunzipAsync(body);
  if (encoding === 'br') return brotliDecompressAsync(body);
  throw new Error(`nobody asked for ${encoding}`);
}
