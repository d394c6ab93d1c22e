import { encodePath } from '../site/address.ts';
import type { NavigationNode } from '../site/navigation-node.ts';
import type { Page } from '../site/page.ts';
import type { LanguageSite, Site } from '../site/read-site.ts';

/**
 * `llms.txt` (llmstxt.org): what the site is, and its pages as links to their Markdown twins. The links are relative, so that
 * they hold wherever the bundle is served.
 */
export function layoutLlms(site: Site): string {
  const head = `# ${oneLine(site.name)}\n${site.description === null ? '' : `\n> ${oneLine(site.description)}\n`}`;
  return head + site.languages.map((local, index) => ofLanguage(local, index > 0)).join('');
}

function ofLanguage({ language, navigation, unlisted }: LanguageSite, namesLanguage: boolean): string {
  const prefix = namesLanguage ? `${language.name} / ` : '';
  const loose = navigation.flatMap((node) => (node.kind === 'page' ? [node.page] : []));
  const groups = navigation.flatMap((node) => (node.kind === 'group' ? [node] : []));
  const rest = unlisted.filter(({ isHidden }) => !isHidden);
  return [
    section(`${prefix}Docs`, loose),
    ...groups.map((group) => section(prefix + group.title, pagesBelow(group))),
    section(`${prefix}${language.words.more}`, rest),
  ].join('');
}

function pagesBelow(node: NavigationNode): readonly Page[] {
  return node.kind === 'page' ? [node.page] : node.kind === 'group' ? node.children.flatMap(pagesBelow) : [];
}

function section(title: string, pages: readonly Page[]): string {
  const lines = pages
    .filter(({ isNoindex }) => !isNoindex)
    .map(({ title: name, twin, description }) => {
      const about = description === null ? '' : `: ${oneLine(description)}`;
      return `- [${oneLine(name).replace(/[[\]\\]/g, '\\$&')}](${encodePath(twin)})${about}`;
    });
  return lines.length === 0 ? '' : `\n## ${oneLine(title)}\n\n${lines.join('\n')}\n`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Bytes of UTF-8, about a quarter of a million tokens: what a model still reads in one go. */
const FULL_BYTES_MAX = 1024 ** 2;

/** Gathers `llms-full.txt`, all pages in one file, and lets go of it once it is too large to be of use. */
export class FullText {
  #parts: string[] | null = [];
  #bytes = 0;

  add(twin: string): void {
    this.#bytes += Buffer.byteLength(twin) + 1;
    if (this.#bytes > FULL_BYTES_MAX) this.#parts = null;
    this.#parts?.push(twin);
  }

  /** The whole text, or null where it is too large or there is none. */
  text(): string | null {
    return this.#parts === null || this.#parts.length === 0 ? null : this.#parts.join('\n');
  }
}
