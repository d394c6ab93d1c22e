import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressOf, layoutNotFound, layoutPage, layoutSitemap, type Manual } from './layout.ts';
import { renderMarkdown } from './markdown.ts';
import { pagesOfVersion, readPages } from './pages.ts';

export interface ManualOptions {
  /** The folder of Markdown pages. */
  readonly docsDir: string;
  /** The version that this rendering is; pages that came later are left out. */
  readonly version: string;
  /** The site's domain, a label. */
  readonly domain: string;
  /** The hue of links and marks, in degrees of OKLCH: it tells versions apart at a glance. */
  readonly hue?: number;
  /** Where to write the files as well; it need not exist. */
  readonly outDir?: string;
}

const ASSETS = join(import.meta.dirname, 'assets');

/** `manual.css` -> `assets/manual.3f9ab2c41d7e0856.css`: the name changes with the content, so it may be cached for ever. */
function hashedName(fileName: string, content: string): string {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return `assets/${fileName.replace('.', `.${hash}.`)}`;
}

/**
 * Renders one version of the manual as a static site: pages as `x.html`, a 404 page, a sitemap, and hashed assets. The
 * same input gives the same bytes.
 *
 * @returns path -> bytes, paths in order
 * @throws Error where a page links to a page that no version has
 */
export async function renderManual(options: ManualOptions): Promise<Map<string, Uint8Array>> {
  const all = readPages(options.docsDir);
  const asset = (name: string) => readFileSync(join(ASSETS, name), 'utf8');
  const css = `:root{--hue:${options.hue ?? 165}}\n${asset('manual.css')}`;
  const js = asset('manual.js');
  const manual: Manual = {
    version: options.version,
    origin: `https://${options.domain}.example`,
    pages: pagesOfVersion(all, options.version),
    assets: { css: hashedName('manual.css', css), js: hashedName('manual.js', js), icon: 'favicon.svg' },
  };
  const linkTo = (slug: string) => {
    if (!all.some((page) => page.slug === slug)) throw new Error(`Cannot link to "${slug}.md": there is no such page`);
    return manual.pages.some((page) => page.slug === slug) ? addressOf(slug) : null;
  };

  const texts: [path: string, text: string][] = [
    ...manual.pages.map((page): [string, string] => [
      addressOf(page.slug),
      layoutPage(manual, page, renderMarkdown(page.body, linkTo)),
    ]),
    ['404.html', layoutNotFound(manual)],
    ['sitemap.xml', layoutSitemap(manual)],
    [manual.assets.css, css],
    [manual.assets.js, js],
    [manual.assets.icon, asset('favicon.svg')],
  ];
  const files = new Map(
    texts.sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, text]) => [path, new TextEncoder().encode(text)]),
  );
  if (options.outDir !== undefined) writeFiles(files, options.outDir);
  return files;
}

function writeFiles(files: ReadonlyMap<string, Uint8Array>, outDir: string): void {
  for (const [path, bytes] of files) {
    const file = join(outDir, path);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, bytes);
  }
}
