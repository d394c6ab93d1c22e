import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { encodeSegments, escapeHtml } from '../../web/escape.ts';
import { type Page, relativeReference } from './page.ts';
import type { LanguageSite, MarkdownSite } from './read-site.ts';
import type { Tone } from './settings.ts';

export interface View {
  readonly site: MarkdownSite;
  readonly local: LanguageSite;
  readonly theme: Theme;
  readonly page: Page | null;
  to(path: string): string;
}

export function viewOf(site: MarkdownSite, local: LanguageSite, theme: Theme, page: Page | null): View {
  const from = page?.path ?? null;
  const root = new URL(`${site.url}/`).pathname;
  const to = (path: string) => (from === null ? root + encodeSegments(path) : relativeReference(from, path));
  return { site, local, theme, page, to };
}

export function referenceOf({ site, to }: View, written: string): string {
  const target = site.targets.resolve('docs.json', written);
  return target.kind === 'file' ? to(target.path) + target.suffix : written;
}

export const canonicalOf = (site: Pick<MarkdownSite, 'url'>, page: Page): string =>
  `${site.url}/${encodeSegments(page.address)}`;

export type TextFile = { readonly path: string; readonly text: string };

export type Theme = Readonly<Record<'css' | 'js' | 'icon', TextFile>>;

const ASSETS = new URL('./assets/', import.meta.url);
const STYLES = ['colours.css', 'text.css', 'bar.css', 'frame.css', 'page.css'];

export async function readTheme(name: string, tone: Tone): Promise<Theme> {
  const styles = await Promise.all(STYLES.map((file) => readFile(new URL(file, ASSETS), 'utf8')));
  const css = `:root{--hue:${tone.hue};--tint:${tone.tint}}\n${styles.join('')}`;
  return {
    css: themeFile('site.css', css),
    js: themeFile('site.js', await readFile(new URL('site.js', ASSETS), 'utf8')),
    icon: themeFile('icon.svg', iconOf(name, tone)),
  };
}

/** Adds a digest of the content to the name of a theme file, so that caches may keep the file forever. */
function themeFile(name: string, text: string): TextFile {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { path: `assets/${name.replace('.', `.${hash}.`)}`, text };
}

function iconOf(name: string, { hue, tint }: Tone): string {
  const letter = escapeHtml([...name.trim()][0]?.toUpperCase() ?? '');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="oklch(47% ${0.11 * tint} ${hue})"/><text x="16" y="22.5" font-family="system-ui,sans-serif" font-size="19" font-weight="700" text-anchor="middle" fill="#fff">${letter}</text></svg>\n`;
}
