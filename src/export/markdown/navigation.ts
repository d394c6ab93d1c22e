import type { SiteSink } from '../../domain/job.ts';
import type { Language } from './languages.ts';
import { orderOfName, type Page, titleOfName } from './page.ts';
import { type NavigationEntry, SETTINGS_FILE } from './settings.ts';

export type NavigationNode =
  | { readonly kind: 'page'; readonly title: string; readonly page: Page }
  | { readonly kind: 'link'; readonly title: string; readonly href: string }
  | { readonly kind: 'group'; readonly title: string; readonly children: readonly NavigationNode[] };

export function* pagesBelow(nodes: readonly NavigationNode[]): Generator<Page, void> {
  for (const node of nodes) {
    if (node.kind === 'page') yield node.page;
    else if (node.kind === 'group') yield* pagesBelow(node.children);
  }
}

export const countEntries = (nodes: readonly NavigationNode[]): number =>
  nodes.reduce((sum, node) => sum + (node.kind === 'group' ? countEntries(node.children) : 1), 0);

export const firstPageIn = (nodes: readonly NavigationNode[]): Page | null => pagesBelow(nodes).next().value ?? null;

type FindPage = (name: string) => Page | 'excluded' | null;

/**
 * Returns the language's own navigation, or else the site's navigation with translated pages, or else a navigation built from the
 * folders.
 */
export function navigationOf(
  language: Language,
  pages: readonly Page[],
  site: { readonly navigation: readonly NavigationEntry[] | null; readonly isDefault: boolean },
  findPage: FindPage,
  find: SiteSink['find'],
): readonly NavigationNode[] {
  const own = language.navigation ?? (site.isDefault ? site.navigation : null);
  const ofLanguage: FindPage = (name) => {
    const inFolder = language.folder === '' ? null : findPage(language.folder + name.replace(/^\/+/, ''));
    return inFolder ?? findPage(name);
  };
  if (own !== null) {
    const nodes = build(own, ofLanguage, (name) => {
      const detail = `navigation lists "${name}", which does not exist`;
      find({ kind: 'missing_page', page: SETTINGS_FILE, detail });
    });
    const listed = new Set(pagesBelow(nodes));
    for (const page of pages) {
      if (listed.has(page) || page.isHidden) continue;
      find({ kind: 'unlisted_page', page: page.source.path, detail: 'the navigation of docs.json does not list it' });
    }
    return nodes;
  }
  if (site.navigation !== null && language.folder !== '') {
    const translated: FindPage = (name) => {
      const page = ofLanguage(name);
      return page !== null && page !== 'excluded' && page.language === language.code ? page : null;
    };
    const nodes = build(site.navigation, translated, () => {});
    if (firstPageIn(nodes) !== null) return nodes;
  }
  return folderNavigation(
    pages.filter(({ isHidden }) => !isHidden),
    language,
  );
}

function build(entries: readonly NavigationEntry[], findPage: FindPage, onMissing: (name: string) => void) {
  return entries.flatMap((entry): readonly NavigationNode[] => {
    if (entry.kind === 'link') return [entry];
    if (entry.kind === 'group') {
      const children = build(entry.entries, findPage, onMissing);
      return children.length === 0 ? [] : [{ kind: 'group', title: entry.title, children }];
    }
    const page = findPage(entry.name);
    if (page === null) onMissing(entry.name);
    return page === null || page === 'excluded' || page.isHidden ? [] : [nodeOf(page)];
  });
}

interface Folder {
  readonly name: string;
  index: Page | null;
  readonly pages: Page[];
  readonly folders: Map<string, Folder>;
}

interface Entry {
  readonly order: number;
  readonly title: string;
  readonly name: string;
  readonly node: NavigationNode;
}

function folderNavigation(pages: readonly Page[], language: Language): readonly NavigationNode[] {
  const root: Folder = { name: '', index: null, pages: [], folders: new Map() };
  for (const page of pages) place(root, page, language);
  const compare = new Intl.Collator(language.code, { numeric: true }).compare;
  return nodesOf(root, (a, b) => a.order - b.order || compare(a.title, b.title) || (a.name < b.name ? -1 : 1));
}

function place(root: Folder, page: Page, language: Language): void {
  const inFolder = language.folder !== '' && page.path.startsWith(language.folder);
  const segments = page.path.slice(inFolder ? language.folder.length : 0).split('/');
  let folder = root;
  for (const name of segments.slice(0, -1)) {
    const next = folder.folders.get(name) ?? { name, index: null, pages: [], folders: new Map() };
    folder.folders.set(name, next);
    folder = next;
  }
  if (segments.at(-1) === 'index.html') folder.index = page;
  else folder.pages.push(page);
}

function nodesOf(folder: Folder, compare: (a: Entry, b: Entry) => number): readonly NavigationNode[] {
  const pages = folder.pages.map((page): Entry => {
    const name = page.path.slice(page.path.lastIndexOf('/') + 1);
    return { order: page.order ?? orderOfName(name), title: page.sidebarTitle, name, node: nodeOf(page) };
  });
  const groups = [...folder.folders.values()].map((each): Entry => {
    const title = each.index?.sidebarTitle ?? titleOfName(each.name);
    const node: NavigationNode = { kind: 'group', title, children: nodesOf(each, compare) };
    return { order: each.index?.order ?? orderOfName(each.name), title, name: `${each.name}/`, node };
  });
  // At the top level, list pages before groups, because a page after a group would seem to belong to the group.
  const entries =
    folder.name === '' ? [...pages.sort(compare), ...groups.sort(compare)] : [...pages, ...groups].sort(compare);
  return [...(folder.index === null ? [] : [nodeOf(folder.index)]), ...entries.map(({ node }) => node)];
}

const nodeOf = (page: Page): NavigationNode => ({ kind: 'page', title: page.sidebarTitle, page });
