import type { HashedAsset } from '../hashed-asset.ts';
import { ownAsset } from '../own-asset.ts';

/** Each stands for itself: one that another imports would need its hashed name. */
const FILES = ['console.css', 'live.js', 'upload.js', 'copy.js'] as const;
type AssetName = (typeof FILES)[number];

/** Style and scripts of the console. The build minifies the scripts (`scripts/copy-assets.mjs`). */
export class ConsoleAssets {
  readonly #byFile: ReadonlyMap<AssetName, HashedAsset>;

  constructor() {
    this.#byFile = new Map(FILES.map((file) => [file, ownAsset(new URL(`assets/${file}`, import.meta.url))]));
  }

  /** Its address below the console's root. */
  address(file: AssetName): string {
    return `assets/${this.#byFile.get(file)?.name}`;
  }

  find(name: string): HashedAsset | null {
    return this.#byFile.values().find((asset) => asset.name === name) ?? null;
  }
}
