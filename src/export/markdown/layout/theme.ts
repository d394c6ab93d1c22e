import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { escapeHtml } from '../../../web/escape-html.ts';
import type { Tone } from '../source/tone.ts';

/** The theme's own files, made for one site. */
export interface Theme {
  readonly css: ThemeFile;
  readonly js: ThemeFile;
  /** For a site that brings none. */
  readonly icon: ThemeFile;
}

export interface ThemeFile {
  /** `assets/site.3f9ab2c41d7e0856.css`: the name changes with the content, so that it may be cached for ever. */
  readonly path: string;
  readonly text: string;
}

const ASSETS = new URL('../assets/', import.meta.url);
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

function themeFile(name: string, text: string): ThemeFile {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { path: `assets/${name.replace('.', `.${hash}.`)}`, text };
}

/** The site's first letter on a tile of its colour. */
function iconOf(name: string, { hue, tint }: Tone): string {
  const letter = escapeHtml([...name.trim()][0]?.toUpperCase() ?? '');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="oklch(47% ${0.11 * tint} ${hue})"/><text x="16" y="22.5" font-family="system-ui,sans-serif" font-size="19" font-weight="700" text-anchor="middle" fill="#fff">${letter}</text></svg>\n`;
}
