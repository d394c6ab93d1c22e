import { codeText } from '../content/code-text.ts';
import { attributeOf, classesOf, type Element, elementsOf, findElement, isElement } from '../content/tree.ts';
import type { Block } from './nodes.ts';

/** Of highlighters' classes: Prism, Shiki and highlight.js; Pygments by Sphinx and by Jekyll; GitHub. */
const LANGUAGE_CLASS = /^(?:language-|lang-|highlight-source-|highlight-|sourceCode-?)([\w#+.-]+)$/;
/** Also those that say how code is coloured and not what it is. */
const NO_LANGUAGE = new Set('default none auto guess undefined null ansi-to-html source wrapper container'.split(' '));
/** Elements around a block of code that may say its language: `figure`, `div`, the table of Pygments' line numbers. */
const AROUND_MAX = 7;
const WRAPPERS = new Set(['div', 'figure', 'td', 'tr', 'tbody', 'table']);
const LANGUAGE_LENGTH_MAX = 40;

export function codeBlockOf(pre: Element): Block | null {
  const value = codeText(pre)
    .replace(/[\u200b\u2060\ufeff]/g, '')
    .replace(/\r\n?/g, '\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
  return value === '' ? null : { type: 'code', lang: languageOf(pre), value };
}

function languageOf(pre: Element): string | null {
  const code = findElement(pre, ({ tagName }) => tagName === 'code');
  const inner = [pre, ...(code === null ? [] : [code])];
  for (const element of [...inner, ...around(pre)]) {
    const said = saidBy(element);
    if (said !== null) return said;
  }
  return null;
}

/** What stands around this block alone. */
function around(pre: Element): Element[] {
  const found: Element[] = [];
  let { parentNode } = pre;
  while (isElement(parentNode) && WRAPPERS.has(parentNode.tagName) && found.length < AROUND_MAX) {
    const blocks = elementsOf(parentNode).filter(({ tagName }) => tagName === 'pre');
    // Line numbers stand in a block of their own.
    if (blocks.drop(2).next().done !== true) break;
    found.push(parentNode);
    parentNode = parentNode.parentNode;
  }
  return found;
}

function saidBy(element: Element): string | null {
  const classes = classesOf(element);
  const hljs = classes.includes('hljs') ? classes.find((name) => /^(?!hljs)[a-z][\w+#-]*$/.test(name)) : undefined;
  const names = [
    attributeOf(element, 'data-language'),
    attributeOf(element, 'data-lang'),
    ...classes.map((name) => LANGUAGE_CLASS.exec(name)?.[1] ?? null),
    hljs ?? null,
  ];
  const said = names.find((name) => name !== null && /^[\w#+.-]+$/.test(name) && name.length <= LANGUAGE_LENGTH_MAX);
  return said === undefined || said === null || NO_LANGUAGE.has(said) ? null : said;
}
