import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { type HashedAsset, hashedAsset } from '../hashed-asset.ts';

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};
/** Each stands for itself: one that another imports would need its hashed name. */
const FILES = ['console.css', 'live.js', 'upload.js', 'copy.js'] as const;
type AssetName = (typeof FILES)[number];

/** Style and scripts of the console. The build minifies the scripts (`scripts/copy-assets.mjs`). */
export class ConsoleAssets {
  readonly #byFile: ReadonlyMap<AssetName, HashedAsset>;

  constructor() {
    this.#byFile = new Map(FILES.map((file) => [file, read(file)]));
  }

  /** Its address below the console's root. */
  address(file: AssetName): string {
    return `assets/${this.#byFile.get(file)?.name}`;
  }

  find(name: string): HashedAsset | null {
    return this.#byFile.values().find((asset) => asset.name === name) ?? null;
  }
}

function read(file: AssetName): HashedAsset {
  const bytes = readFileSync(new URL(`assets/${file}`, import.meta.url));
  const type = TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? '';
  return hashedAsset(file, { type, bytes, gzipped: gzipSync(bytes, { level: 9 }) });
}
