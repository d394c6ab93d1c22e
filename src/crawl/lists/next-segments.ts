const NODES_MAX = 500;
/** What stands in a file name as it is. */
const PLAIN = /^[\w@-]+$/;

/**
 * Next.js (16 on) splits a page's payload by the segments of its route, `__next.<segments>.txt` in the page's folder, and names
 * the segments in `__next._tree.txt`: rows of `<id>:<JSON>`, where `"$Q<id>"` stands for the map of another row. This was read
 * off its exports; a tree of another shape names nothing.
 *
 * @returns the names of all segments, each with those above it: `!KGVuKQ.$c$slug.__PAGE__`
 */
export function segmentsOf(tree: string): string[] {
  const rows = new Map<string, unknown>();
  for (const line of tree.split('\n')) {
    const [, id, json] = /^([0-9a-f]+):([[{].*)$/.exec(line) ?? [];
    if (id === undefined || json === undefined) continue;
    try {
      rows.set(id, JSON.parse(json));
    } catch {
      return [];
    }
  }
  const root = (rows.get('0') as { t?: { t?: unknown } } | undefined)?.t?.t;
  const names: string[] = [];
  walk(root, '', rows, names);
  return names;
}

function walk(node: unknown, above: string, rows: ReadonlyMap<string, unknown>, names: string[]): void {
  const children = (node as { c?: unknown } | null | undefined)?.c;
  const id = typeof children === 'string' ? /^\$Q([0-9a-f]+)$/.exec(children)?.[1] : undefined;
  const entries = id === undefined ? undefined : rows.get(id);
  if (!Array.isArray(entries)) return;
  for (const [slot, child] of entries as [unknown, { s?: unknown }][]) {
    if (names.length >= NODES_MAX) return;
    const name = nameOf(child?.s);
    if (name === null) continue;
    const own = slot === 'children' ? name : `@${String(slot)}.${name}`;
    const path = above === '' ? own : `${above}.${own}`;
    names.push(path);
    walk(child, path, rows, names);
  }
}

function nameOf(segment: unknown): string | null {
  if (typeof segment === 'string') return encode(segment);
  const { n, t } = (segment ?? {}) as { n?: unknown; t?: unknown };
  return typeof n === 'string' && typeof t === 'string' ? `$${t}$${encode(n)}` : null;
}

function encode(text: string): string {
  return PLAIN.test(text) ? text : `!${Buffer.from(text, 'utf8').toString('base64url')}`;
}
