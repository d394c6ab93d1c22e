import { addressesWith, folderOf, type GeneratorSource, stemOf } from './addresses.ts';

const NEXT_STATIC = '/_next/static/';
const NEXT_CHUNKS = 'static/chunks/';
/** `/_next/static/<build>/_buildManifest.js` names files below `/_next/`. */
const BUILD_MANIFEST_TO_ROOT = '../../';
const HEAD_URLS_MAX = 100;

function rootOf({ text, named }: GeneratorSource): string {
  const known =
    named.slice(0, HEAD_URLS_MAX).find((url) => url.includes(NEXT_STATIC)) ??
    addressesWith(text, NEXT_STATIC).next().value;
  const at = known?.indexOf(NEXT_STATIC) ?? -1;
  return known === undefined || at === -1 ? '/_next/' : `${known.slice(0, at)}/_next/`;
}

export const chunksInPayload = (source: GeneratorSource): string[] => chunksIn(source.text, rootOf(source));

export function buildManifestChunks({ text }: GeneratorSource): string[] {
  return text.includes('__next_f') ? [] : chunksIn(text, BUILD_MANIFEST_TO_ROOT);
}

function chunksIn(text: string, root: string): string[] {
  const below = [...addressesWith(text, NEXT_CHUNKS)].filter((address) => address.startsWith(NEXT_CHUNKS));
  return [...addressesWith(text, NEXT_STATIC), ...below.map((address) => root + address)];
}

export function payloadFiles({ path }: GeneratorSource): string[] {
  const whole = path.endsWith('/') ? `${path}index.txt` : `${stemOf(path)}.txt`;
  return [whole, ...['_tree', '_full', '_head', '_index'].map((name) => `${folderOf(path)}__next.${name}.txt`)];
}

const TREE_BYTES_MAX = 256 * 1024;

export function segmentFiles({ text }: GeneratorSource): string[] {
  if (text.length > TREE_BYTES_MAX) return [];
  return segmentsOf(Buffer.from(text, 'latin1').toString('utf8')).map((name) => `./__next.${encodeURI(name)}.txt`);
}

const NODES_MAX = 500;
const PLAIN = /^[\w@-]+$/;

/** Next.js 16 splits payloads by route segments: `!KGVuKQ.$c$slug.__PAGE__`. `"$Q<id>"` stands for the map of another row. */
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
