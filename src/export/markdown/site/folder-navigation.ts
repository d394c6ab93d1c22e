import type { Language } from './languages.ts';
import { orderOfName, titleOfName } from './name-title.ts';
import type { NavigationNode } from './navigation-node.ts';
import type { Page } from './page.ts';

interface Folder {
  readonly name: string;
  index: Page | null;
  readonly pages: Page[];
  readonly folders: Map<string, Folder>;
}

/** What stands in one place of the navigation, with what its place follows from. */
interface Entry {
  readonly order: number;
  readonly title: string;
  readonly name: string;
  readonly node: NavigationNode;
}

/** A navigation from the folders: in each the index page first, then by `order`, the number in the name, and the title. */
export function folderNavigation(pages: readonly Page[], language: Language): readonly NavigationNode[] {
  const root = emptyFolder('');
  for (const page of pages) place(root, page, language);
  const compare = new Intl.Collator(language.code, { numeric: true }).compare;
  return nodesOf(root, (a, b) => a.order - b.order || compare(a.title, b.title) || (a.name < b.name ? -1 : 1));
}

function emptyFolder(name: string): Folder {
  return { name, index: null, pages: [], folders: new Map() };
}

function place(root: Folder, page: Page, language: Language): void {
  const inFolder = language.folder !== '' && page.path.startsWith(language.folder);
  const segments = page.path.slice(inFolder ? language.folder.length : 0).split('/');
  let folder = root;
  for (const name of segments.slice(0, -1)) {
    const next = folder.folders.get(name) ?? emptyFolder(name);
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
  // At the top, pages come before groups: a page below a group's title would seem to be the group's.
  const entries =
    folder.name === '' ? [...pages.sort(compare), ...groups.sort(compare)] : [...pages, ...groups].sort(compare);
  return [...(folder.index === null ? [] : [nodeOf(folder.index)]), ...entries.map(({ node }) => node)];
}

function nodeOf(page: Page): NavigationNode {
  return { kind: 'page', title: page.sidebarTitle, page };
}
