import type { GeneratorSource } from './addresses.ts';

/** A way to the root of the site: `../..`, `./`, `/docs/`, or nothing. */
const ROOT = /^(?:[.]{0,2}\/)*[\w./-]{0,100}$/;

export function rustdocFiles({ attribute: value = () => null }: GeneratorSource): string[] {
  const [root, fixed] = [value('data-root-path'), value('data-static-root-path')];
  if (root === null || fixed === null) return [];
  const named = ['data-search-js', 'data-settings-js', 'data-stringdex-js'].flatMap((name) => value(name) ?? []);
  const suffix = value('data-resource-suffix') ?? '';
  return [
    ...named.map((name) => fixed + name),
    `${root}search-index${suffix}.js`,
    `${root}search.index/root${suffix}.js`,
  ];
}

export function belowRoot(root: RegExp, namesOf: (script: string) => readonly string[]) {
  return ({ text: script }: GeneratorSource): readonly string[] => {
    const way = root.exec(script)?.[1];
    if (way === undefined || !ROOT.test(way)) return [];
    const folder = way === '' || way.endsWith('/') ? way : `${way}/`;
    return namesOf(script).map((name) => folder + name);
  };
}

export function materialFiles({ text: script }: GeneratorSource): readonly string[] {
  if (!script.includes('"base"')) return [];
  try {
    const { base, search } = JSON.parse(script) as { readonly base?: unknown; readonly search?: unknown };
    if (typeof base !== 'string' || typeof search !== 'string' || !ROOT.test(base)) return [];
    return [search, `${base}/search/search_index.json`];
  } catch {
    return [];
  }
}
