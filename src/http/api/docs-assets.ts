import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';

/** A file that the page of the API's description loads. */
export interface Asset {
  readonly kind: 'style' | 'script';
  /** Holds a part of the digest of the bytes: under this name they never change. */
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
}

/** The build copies the viewer beside this file (`scripts/copy-assets.mjs`); sources run beside the installed package. */
const FOLDERS = [
  new URL('./assets/', import.meta.url),
  new URL('../../../node_modules/swagger-ui-dist/', import.meta.url),
];

const compress = promisify(gzip);

/** Reads and compresses the files with the first call, 1.9 MB and 40 ms that no start pays for; a failure is tried again. */
export function docsAssets(): () => Promise<readonly Asset[]> {
  let loaded: Promise<readonly Asset[]> | null = null;
  return () => {
    loaded ??= Promise.all([
      load('style', 'swagger-ui.css', 'text/css; charset=utf-8'),
      load('script', 'swagger-ui-bundle.js', 'text/javascript; charset=utf-8'),
    ]).catch((error: unknown) => {
      loaded = null;
      throw error;
    });
    return loaded;
  };
}

async function load(kind: Asset['kind'], fileName: string, type: string): Promise<Asset> {
  const bytes = await read(fileName);
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return { kind, name: fileName.replace(/\.(\w+)$/, `-${digest}.$1`), type, bytes, gzipped: await compress(bytes) };
}

async function read(fileName: string): Promise<Uint8Array<ArrayBuffer>> {
  for (const folder of FOLDERS) {
    try {
      return await readFile(new URL(fileName, folder));
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  }
  throw new DocshelfError('cannot_read', `Cannot show the description of the API: "${fileName}" is not installed`, {
    next: 'Install docshelf anew. Meanwhile the description is at /openapi.json.',
  });
}
