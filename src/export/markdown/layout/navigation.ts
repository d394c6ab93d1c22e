import { escapeHtml } from '../../../web/escape.ts';
import { firstPageIn, type NavigationNode } from '../site/navigation.ts';
import { referenceOf, type View } from './view.ts';

/** Entries that every page shows. Of more only its own branch: a site would grow with the square of its pages. */
const ENTRIES_MAX = 400;
/** Entries around the current one that a list of such a navigation shows. */
const NEIGHBOURS_MAX = 200;

export function layoutNavigation(view: View): string {
  const tree = new NavigationTree(view, view.local.navigation);
  let html = '';
  let loose: NavigationNode[] = [];
  const listLoose = () => (loose.length > 0 ? tree.list(loose) : '');
  for (const node of tree.shown(view.local.navigation)) {
    if (node.kind === 'group') {
      html += listLoose() + tree.section(node);
      loose = [];
    } else loose.push(node);
  }
  return html + listLoose();
}

export function groupTitleOf({ local, page }: View): string | null {
  const search = (nodes: readonly NavigationNode[], title: string | null): string | null | undefined => {
    for (const node of nodes) {
      if (node.kind === 'page' && node.page === page) return title;
      const found = node.kind === 'group' ? search(node.children, node.title) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return search(local.navigation, null) ?? null;
}

type Group = Extract<NavigationNode, { kind: 'group' }>;

class NavigationTree {
  readonly #view: View;
  readonly #isLarge: boolean;

  constructor(view: View, nodes: readonly NavigationNode[]) {
    this.#view = view;
    this.#isLarge = countUpTo(nodes, ENTRIES_MAX) > ENTRIES_MAX;
  }

  section(group: Group): string {
    if (this.#isClosed(group)) return `<h2>${this.#linkToFirst(group)}</h2>`;
    return `<h2>${escapeHtml(group.title)}</h2>${this.list(group.children)}`;
  }

  list(nodes: readonly NavigationNode[]): string {
    const shown = this.shown(nodes);
    const more = shown.length < nodes.length ? '<li class="more">…</li>' : '';
    return `<ul>${shown.map((node) => this.#item(node)).join('')}${more}</ul>`;
  }

  #item(node: NavigationNode): string {
    if (node.kind === 'link') {
      return `<li><a href="${escapeHtml(referenceOf(this.#view, node.href))}">${escapeHtml(node.title)}</a></li>`;
    }
    if (node.kind === 'page') {
      const { page } = node;
      const here = page === this.#view.page ? ' aria-current="page"' : '';
      const isNew = page.isNew ? ` <span class="tag">${escapeHtml(this.#view.local.language.words.isNew)}</span>` : '';
      return `<li><a href="${escapeHtml(this.#view.to(page.path))}"${here}>${escapeHtml(node.title)}${isNew}</a></li>`;
    }
    if (this.#isClosed(node)) return `<li>${this.#linkToFirst(node)}</li>`;
    const open = this.#holdsPage(node) ? ' open' : '';
    return `<li><details${open}><summary>${escapeHtml(node.title)}</summary>${this.list(node.children)}</details></li>`;
  }

  #linkToFirst(group: Group): string {
    const first = firstPageIn(group.children);
    const title = escapeHtml(group.title);
    return first === null ? title : `<a href="${escapeHtml(this.#view.to(first.path))}">${title}</a>`;
  }

  #isClosed(group: Group): boolean {
    return this.#isLarge && !this.#holdsPage(group);
  }

  #holdsPage(node: NavigationNode): boolean {
    if (node.kind === 'group') return node.children.some((child) => this.#holdsPage(child));
    return node.kind === 'page' && node.page === this.#view.page;
  }

  shown(nodes: readonly NavigationNode[]): readonly NavigationNode[] {
    if (!this.#isLarge || nodes.length <= NEIGHBOURS_MAX) return nodes;
    const at = nodes.findIndex((node) => this.#holdsPage(node));
    const start = Math.max(0, Math.min(at - NEIGHBOURS_MAX / 2, nodes.length - NEIGHBOURS_MAX));
    return nodes.slice(start, start + NEIGHBOURS_MAX);
  }
}

function countUpTo(nodes: readonly NavigationNode[], max: number): number {
  let count = 0;
  for (const node of nodes) {
    count += node.kind === 'group' ? countUpTo(node.children, max - count) : 1;
    if (count > max) break;
  }
  return count;
}
