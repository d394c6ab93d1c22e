import { editDistance } from '../domain/text.ts';
import { isPlainName } from './faults.ts';
import { listKeys } from './schema-node.ts';

const lower = (name: string): string => name.toLowerCase();

export function nearestOf(name: string, names: readonly string[]): string | undefined {
  const distances = names.map((candidate) => editDistance(lower(name), lower(candidate)));
  return names[distances.indexOf(Math.min(...distances))];
}

/** Keys of earlier versions, with what to do instead. */
const REMOVED: Readonly<Record<string, string>> = {
  'server.workers':
    'docshelf removed it on 2026-11-27 and serves from one process. Remove the key, and add replicas to scale',
};

export function unknownKeySentence(parent: string, name: string, siblings: readonly string[]): string {
  const dotted = parent === '' ? name : `${parent}.${name}`;
  const removed = REMOVED[dotted];
  if (removed !== undefined) return `unknown key "${dotted}": ${removed}`;
  const shown = isPlainName(name) ? `"${dotted}"` : 'that is no plain name';
  const nearest = nearestKey(parent, name, siblings);
  return `unknown key ${shown}${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`;
}

/** A sibling of a like name, else a key of that name elsewhere (wrong section), else the nearest sibling. */
function nearestKey(parent: string, name: string, siblings: readonly string[]): string | undefined {
  const inParent = (key: string): string => (parent === '' ? key : `${parent}.${key}`);
  const sibling = nearestOf(name, siblings);
  if (sibling !== undefined && isLike(name, sibling)) return inParent(sibling);
  const elsewhere = listKeys().find(({ path }) => isLike(name, path.at(-1) ?? ''));
  if (elsewhere !== undefined) return elsewhere.path.join('.');
  return sibling === undefined ? undefined : inParent(sibling);
}

function isLike(name: string, other: string): boolean {
  return editDistance(lower(name), lower(other)) * 3 <= Math.max(name.length, other.length);
}
