import { createHash } from 'node:crypto';

export interface AssetFile {
  /** With its charset. */
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface AssetFolder {
  /** `search-box-3f9ab2c41d7e0856`: its name changes with any of its files, so that those name each other as they are. */
  readonly folder: string;
  readonly files: ReadonlyMap<string, AssetFile>;
}

export function assetFolder(name: string, files: ReadonlyMap<string, AssetFile>): AssetFolder {
  const digest = createHash('sha256');
  for (const [file, { bytes }] of files) digest.update(`${file}\n${bytes.length}\n`).update(bytes);
  return { folder: `${name}-${digest.digest('hex').slice(0, 16)}`, files };
}

export function textFile(type: string, text: string | Buffer): AssetFile {
  return { type: `${type}; charset=utf-8`, bytes: Uint8Array.from(Buffer.from(text)) };
}
