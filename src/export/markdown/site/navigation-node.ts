import type { Page } from './page.ts';

export type NavigationNode =
  | { readonly kind: 'page'; readonly title: string; readonly page: Page }
  | { readonly kind: 'link'; readonly title: string; readonly href: string }
  | { readonly kind: 'group'; readonly title: string; readonly children: readonly NavigationNode[] };

/** The pages of a navigation in a reader's order, each once. */
export function pagesIn(nodes: readonly NavigationNode[]): readonly Page[] {
  const walk = (node: NavigationNode): readonly Page[] =>
    node.kind === 'page' ? [node.page] : node.kind === 'group' ? node.children.flatMap(walk) : [];
  return [...new Set(nodes.flatMap(walk))];
}

export function firstPageIn(nodes: readonly NavigationNode[]): Page | null {
  for (const node of nodes) {
    const first = node.kind === 'page' ? node.page : node.kind === 'group' ? firstPageIn(node.children) : null;
    if (first !== null) return first;
  }
  return null;
}
