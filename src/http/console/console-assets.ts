import { BASE_STYLE, type HashedAsset, ICON, ownAsset } from '../own-asset.ts';

/** Each stands for itself: one that another imports would need its hashed name. */
const SCRIPTS = ['live.js', 'upload.js', 'copy.js'] as const;
type AssetName = (typeof SCRIPTS)[number] | 'console.css' | 'shelf.svg';

/** Style and scripts of the console. The build minifies the scripts (`scripts/copy-assets.mjs`). */
export class ConsoleAssets {
  readonly #byFile: ReadonlyMap<AssetName, HashedAsset>;

  constructor() {
    const own = (file: AssetName): URL => new URL(`assets/${file}`, import.meta.url);
    this.#byFile = new Map([
      ['console.css', ownAsset(own('console.css'), BASE_STYLE)],
      ['shelf.svg', ownAsset(ICON)],
      ...SCRIPTS.map((file) => [file, ownAsset(own(file))] as const),
    ]);
  }

  /** Its address below the console's root. */
  address(file: AssetName): string {
    return `assets/${this.#byFile.get(file)?.name}`;
  }

  find(name: string): HashedAsset | null {
    return this.#byFile.values().find((asset) => asset.name === name) ?? null;
  }
}
