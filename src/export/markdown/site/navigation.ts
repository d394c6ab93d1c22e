import type { Finding } from '../../../domain/job.ts';
import type { NavigationEntry } from '../source/navigation-settings.ts';
import { SETTINGS_FILE } from '../source/settings.ts';
import { folderNavigation } from './folder-navigation.ts';
import type { Language } from './languages.ts';
import { type NavigationNode, pagesIn } from './navigation-node.ts';
import type { Page } from './page.ts';

/** The page that a name of `docs.json` means; `excluded`: it is not in this export, which is no fault. */
export type FindPage = (name: string) => Page | 'excluded' | null;

/** The navigation of one language: as it is written, else as the site's is, below the language's folder, else the folders'. */
export function navigationOf(
  language: Language,
  pages: readonly Page[],
  site: { readonly navigation: readonly NavigationEntry[] | null; readonly isDefault: boolean },
  findPage: FindPage,
  find: (finding: Finding) => void,
): readonly NavigationNode[] {
  const own = language.navigation ?? (site.isDefault ? site.navigation : null);
  const ofLanguage: FindPage = (name) => {
    const inFolder = language.folder === '' ? null : findPage(language.folder + name.replace(/^\/+/, ''));
    return inFolder ?? findPage(name);
  };
  if (own !== null) {
    const nodes = build(own, ofLanguage, (name) => {
      find({
        kind: 'missing_page',
        page: SETTINGS_FILE,
        detail: `navigation names "${name}", and there is no such page`,
      });
    });
    reportUnlisted(nodes, pages, find);
    return nodes;
  }
  if (site.navigation !== null && language.folder !== '') {
    const translated: FindPage = (name) => {
      const page = ofLanguage(name);
      return page !== null && page !== 'excluded' && page.language === language.code ? page : null;
    };
    const nodes = build(site.navigation, translated, () => {});
    if (pagesIn(nodes).length > 0) return nodes;
  }
  return folderNavigation(
    pages.filter(({ isHidden }) => !isHidden),
    language,
  );
}

function build(
  entries: readonly NavigationEntry[],
  findPage: FindPage,
  onMissing: (name: string) => void,
): readonly NavigationNode[] {
  return entries.flatMap((entry): readonly NavigationNode[] => {
    if (entry.kind === 'link') return [entry];
    if (entry.kind === 'group') {
      const children = build(entry.entries, findPage, onMissing);
      return children.length === 0 ? [] : [{ kind: 'group', title: entry.title, children }];
    }
    const page = findPage(entry.name);
    if (page === null) onMissing(entry.name);
    if (page === null || page === 'excluded' || page.isHidden) return [];
    return [{ kind: 'page', title: page.sidebarTitle, page }];
  });
}

function reportUnlisted(
  nodes: readonly NavigationNode[],
  pages: readonly Page[],
  find: (finding: Finding) => void,
): void {
  const listed = new Set(pagesIn(nodes));
  for (const page of pages) {
    if (listed.has(page) || page.isHidden) continue;
    find({ kind: 'unlisted_page', page: page.source.path, detail: 'the navigation of docs.json does not name it' });
  }
}
