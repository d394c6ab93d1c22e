import { membersOf } from '../../domain/shape.ts';

interface ResolvedSpecifier {
  readonly url: string;
  /** True if an import map resolves the specifier. docshelf then rewrites the import map instead of the specifier. */
  readonly isMapped: boolean;
}

interface ImportMap {
  readonly imports: Readonly<Record<string, string>>;
  readonly scopes: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/**
 * Resolves a module specifier in a module or page. Null for a bare specifier that no import map contains.
 * @param pageUrl URL of the module or page, and base URL of the import maps
 */
export function resolveSpecifier(
  specifier: string,
  pageUrl: string,
  importMaps: readonly string[] = [],
): ResolvedSpecifier | null {
  const own = parseAddress(specifier, pageUrl);
  const name = own?.href ?? specifier;
  for (const map of importMaps.map(parseImportMap)) {
    const scopes = longestFirst(
      Object.entries(map.scopes).map(([prefix, names]) => [URL.parse(prefix, pageUrl)?.href ?? prefix, names] as const),
    );
    const within = scopes.filter(
      ([prefix]) => pageUrl === prefix || (prefix.endsWith('/') && pageUrl.startsWith(prefix)),
    );
    for (const names of [...within.map(([, scoped]) => scoped), map.imports]) {
      const url = resolveIn(names, name, pageUrl);
      if (url !== null) return { url, isMapped: true };
    }
  }
  return own === null ? null : { url: own.href, isMapped: false };
}

function resolveIn(names: Readonly<Record<string, string>>, name: string, pageUrl: string): string | null {
  const entries = Object.entries(names).map(([key, address]) => {
    return [parseAddress(key, pageUrl)?.href ?? key, address] as const;
  });
  for (const [key, address] of longestFirst(entries)) {
    const isFolder = key.endsWith('/') && name.startsWith(key);
    if (key !== name && !isFolder) continue;
    const target = parseAddress(address, pageUrl);
    return target === null ? null : (URL.parse(isFolder ? name.slice(key.length) : '', target)?.href ?? null);
  }
  return null;
}

const parseAddress = (text: string, base: string): URL | null =>
  /^\.{0,2}\//.test(text) ? URL.parse(text, base) : URL.parse(text);

const longestFirst = <T>(entries: readonly (readonly [string, T])[]): (readonly [string, T])[] =>
  entries.toSorted(([a], [b]) => b.length - a.length);

function parseImportMap(json: string): ImportMap {
  const { imports, scopes } = membersOf<ImportMap>(json);
  const scoped = Object.entries(scopes ?? {}).map(([prefix, names]) => [prefix, strings(names)]);
  return { imports: strings(imports), scopes: Object.fromEntries(scoped) };
}

function strings(names: unknown): Record<string, string> {
  const entries = typeof names === 'object' && names !== null ? Object.entries(names) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
