import { type Phrase, plainText, rawOf, textOf } from './nodes.ts';

type Marked = Extract<Phrase, { readonly type: 'strong' | 'emphasis' | 'delete' | 'link' }>;

const isMarked = (node: Phrase): node is Marked =>
  node.type === 'strong' || node.type === 'emphasis' || node.type === 'delete' || node.type === 'link';

/**
 * Phrases as they can be written: white space collapsed over their bounds and outside of marks, same marks beside each other
 * joined, empty ones gone. Markdown has no mark that begins or ends with a space.
 */
export function tidy(phrases: readonly Phrase[]): Phrase[] {
  const joined = join(phrases.flatMap(withSpacesOutside));
  const out: Phrase[] = [];
  let isAtSpace = true;
  for (const node of joined) {
    if (node.type === 'break') {
      trimEnd(out);
      if (out.length > 0) out.push(node);
      isAtSpace = true;
      continue;
    }
    if (node.type !== 'text') {
      out.push(node);
      isAtSpace = false;
      continue;
    }
    const value: string = isAtSpace ? node.value.replace(/^ +/, '') : node.value;
    if (value === '') continue;
    out.push(textOf(value));
    isAtSpace = value.endsWith(' ');
  }
  trimEnd(out);
  while (out.at(-1)?.type === 'break') {
    out.pop();
    trimEnd(out);
  }
  return out;
}

function trimEnd(phrases: Phrase[]): void {
  const last = phrases.at(-1);
  if (last?.type !== 'text') return;
  const value = last.value.trimEnd();
  phrases.pop();
  if (value !== '') phrases.push(textOf(value));
}

/** Children of a mark are tidy. */
function withSpacesOutside(node: Phrase): Phrase[] {
  if (!isMarked(node)) return [node];
  const before = startsWithSpace(node.children[0]) ? [textOf(' ')] : [];
  const after = node.children.length > 0 && endsWithSpace(node.children.at(-1)) ? [textOf(' ')] : [];
  const children = tidy(node.children);
  if (children.length === 0) return [...before, ...after];
  const [first] = children;
  const isCodeAlone = children.length === 1 && first?.type === 'inlineCode';
  // A name to be replaced, in code: marks between code spans are hard to read.
  if (node.type === 'emphasis' && isCodeAlone) return [...before, first, ...after];
  if (node.type !== 'link' && children.length === 1 && first?.type === node.type) return [...before, first, ...after];
  return [...before, { ...node, children } as Phrase, ...after];
}

const startsWithSpace = (node: Phrase | undefined): boolean => node?.type === 'text' && node.value.startsWith(' ');
const endsWithSpace = (node: Phrase | undefined): boolean => node?.type === 'text' && node.value.endsWith(' ');

/** What is of one kind beside each other becomes one, all at once: there may be 100,000 of them. */
function join(phrases: readonly Phrase[]): Phrase[] {
  const out: Phrase[] = [];
  for (let at = 0; at < phrases.length; ) {
    const first = phrases[at] as Phrase;
    let end = at + 1;
    while (first.type !== 'link' && phrases[end]?.type === first.type) end += 1;
    out.push(...joined(first, phrases.slice(at, end)));
    at = end;
  }
  return out;
}

function joined(first: Phrase, run: readonly Phrase[]): readonly Phrase[] {
  if (first.type === 'text') return [textOf(run.map(plainText).join('').replace(/ {2,}/g, ' '))];
  if (run.length === 1) return run;
  // Two code spans beside each other read as one with ticks in it.
  if (first.type === 'inlineCode') return [{ type: 'inlineCode', value: run.map(plainText).join('') }];
  if (!isMarked(first)) return run;
  const children = run.flatMap((node) => (isMarked(node) ? node.children : []));
  return [{ ...first, children: tidy(children) } as Phrase];
}

/** On one line, as headings and cells of tables are. @param lineBreak in place of one */
export function onOneLine(phrases: readonly Phrase[], lineBreak: ' ' | '<br>'): Phrase[] {
  const one = (node: Phrase): Phrase => {
    if (node.type === 'break') return lineBreak === ' ' ? textOf(' ') : rawOf(lineBreak);
    return isMarked(node) ? ({ ...node, children: node.children.map(one) } as Phrase) : node;
  };
  return tidy(phrases.map(one));
}

export const isBlank = (phrases: readonly Phrase[]): boolean =>
  phrases.every((node) => node.type !== 'image' && plainText(node).trim() === '');
