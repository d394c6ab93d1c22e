import {
  attributeOf,
  classesOf,
  DEPTH_MAX,
  type Element,
  findElement,
  hasClass,
  isElement,
  isHeading,
  isText,
  type Node,
  oneLine,
  type Parent,
  rawText,
} from './tree.ts';

const WITHOUT_TEXT = new Set(
  (
    'script style template noscript svg iframe object canvas audio video map button input select textarea datalist ' +
    'progress meter dialog nav menu link meta head title rp rt annotation'
  ).split(' '),
);

/** ARIA landmarks and widgets around the content (WAI-ARIA 1.2, section 5.3). */
const ROLES = new Set('navigation search banner contentinfo button menu menubar toolbar dialog'.split(' '));

const CLASSES = new Set(
  (
    'breadcrumb breadcrumbs crumbs theme-doc-breadcrumbs nextra-breadcrumb ' +
    'theme-doc-version-badge theme-doc-version-banner theme-doc-toc-mobile theme-doc-toc-desktop theme-doc-footer ' +
    'table-of-contents tableofcontents on-this-page page-toc nextra-toc VPDocAside VPLocalNav ' +
    'pagination pagination-nav pagination-links pager prev-next prevnext page-nav VPDocFooter ' +
    'edit-link edit-page edit-this-page edit-info page-edit last-updated page-meta ' +
    'skip-link copy-button copybtn btn-copy clipboard-copy ' +
    'headerlink header-anchor hash-link sl-anchor-link anchor-link heading-anchor permalink ' +
    'sr-only visually-hidden line-numbers-wrapper line-numbers-rows viewcode-link viewcode-back ' +
    'navheader navfooter ingroups sphinxsidebar indexterm sl-banner VPNav VPSidebar VPFooter avatar'
  ).split(' '),
);

const HEADING_CLASSES = new Set('sr-only visually-hidden corpauthor'.split(' '));

const LINE_NUMBER_CLASSES = new Set(
  'linenos lineno linenumber line-number ln lnt gutter rouge-gutter hljs-ln-numbers'.split(' '),
);

const HIDDEN_STYLE = /display\s*:\s*none/i;

/** Matches addresses of links to edit a page. The text of such links cannot be used, because it depends on the language. */
const EDIT_ADDRESS = /^https?:\/\/.*\/(?:edit|_edit)\//;

/** Sphinx's lists of child pages, which some pages have instead of text. */
const CHILD_PAGES = /(?:^|\s)toctree-(?:wrapper|l\d)(?:\s|$)/;

/** True if the page hides the element. False for a hidden tab panel, because readers can open it with one click. */
function isHidden(element: Element): boolean {
  if (attributeOf(element, 'role') === 'tabpanel') return false;
  // Starlight hides the titles of its asides only from screen readers, so the titles are content.
  if (attributeOf(element, 'aria-hidden') === 'true') return !hasClass(element, 'starlight-aside__title');
  const hidden = attributeOf(element, 'hidden');
  if (hidden !== null && hidden !== 'until-found') return true;
  const style = attributeOf(element, 'style');
  return style !== null && HIDDEN_STYLE.test(style);
}

function hasClutterClass(element: Element): boolean {
  const known = isHeading(element) ? HEADING_CLASSES : CLASSES;
  if (classesOf(element).some((name) => known.has(name) || name.endsWith('-visually-hidden'))) return true;
  // Skip the name of the language in the corner of VitePress's code blocks.
  return element.tagName === 'span' && attributeOf(element, 'class') === 'lang';
}

const isLineNumber = (element: Element): boolean => classesOf(element).some((name) => LINE_NUMBER_CLASSES.has(name));

function isClutterLink(link: Element): boolean {
  const relation = attributeOf(link, 'rel');
  if (relation === 'prev' || relation === 'next') return true;
  const href = attributeOf(link, 'href') ?? '';
  // The text of a permalink to a heading has no letters or digits, only `#`, `¶` or a zero-width space.
  return href.startsWith('#') ? !/[\p{L}\p{N}]/u.test(rawText(link)) : EDIT_ADDRESS.test(href);
}

/** True for a footer, but false in a quotation, where the footer names the source of the quotation and is content. */
function isPageFooter(element: Element): boolean {
  const parent = element.parentNode;
  // Recognize the footer of Asciidoctor and older generators, which write a `div` instead of a `footer` element.
  if (element.tagName === 'div' && attributeOf(element, 'id') === 'footer') return true;
  return element.tagName === 'footer' && !(isElement(parent) && /^(?:blockquote|figure)$/.test(parent.tagName));
}

function isContentsCaption({ tagName, parentNode }: Element): boolean {
  const isInDiv = isElement(parentNode) && parentNode.tagName === 'div';
  return isInDiv && hasClass(parentNode, 'toc') && /^(?:p|h[2-6])$/.test(tagName);
}

export function isClutter(element: Element): boolean {
  if (WITHOUT_TEXT.has(element.tagName)) return true;
  if (isPageFooter(element) || isContentsCaption(element)) return true;
  if (element.attrs.length === 0) return false;
  if (isHidden(element) || hasClutterClass(element) || attributeOf(element, 'data-pagefind-ignore') !== null)
    return true;
  const role = attributeOf(element, 'role');
  if (role !== null && ROLES.has(role)) return true;
  if (element.tagName === 'a') return isClutterLink(element);
  return element.tagName === 'td' && isLineNumber(element);
}

const NOTE_CLASSES = new Set(
  'note tip seealso warning caution danger important admonition callout alert custom-block'.split(' '),
);

export function isNote(element: Element): boolean {
  const { tagName } = element;
  if (tagName === 'aside' || tagName === 'blockquote') return true;
  return tagName === 'div' && classesOf(element).some((name) => NOTE_CLASSES.has(name));
}

export function listsChildPages(element: Element): boolean {
  if (CHILD_PAGES.test(attributeOf(element, 'class') ?? '')) return true;
  return (element.tagName === 'div' || element.tagName === 'dl') && hasClass(element, 'toc');
}

const LINES = new Set(['div', 'p', 'li', 'tr']);
const SKIPPED = new Set(['button', 'svg', 'script', 'style', 'template']);

/** Text of a code block without line numbers and copy buttons. Line breaks may be characters, `<br>` or one element per line. */
export function codeText(pre: Element): string {
  let text = '';
  let atLineStart = true;
  const write = (piece: string): void => {
    if (piece === '') return;
    text += piece;
    atLineStart = piece.endsWith('\n');
  };
  const read = (parent: Parent, depth: number): void => {
    for (const child of parent.childNodes) {
      if (isText(child)) write(child.value);
      else if (isElement(child) && depth < DEPTH_MAX) readElement(child, depth);
    }
  };
  const readElement = (element: Element, depth: number): void => {
    if (element.tagName === 'br') {
      write('\n');
      return;
    }
    if (SKIPPED.has(element.tagName) || isLineNumber(element) || attributeOf(element, 'aria-hidden') === 'true') return;
    const isLine = LINES.has(element.tagName);
    if (isLine && !atLineStart) write('\n');
    const lengthBefore = text.length;
    read(element, depth + 1);
    if (isLine && (text.length === lengthBefore || !atLineStart)) write('\n');
  };
  read(pre, 0);
  return text;
}

const HEADING_LENGTH_MAX = 500;

const areSetApart = (before: Node | undefined, node: Element): boolean =>
  isElement(before) && before.tagName === 'span' && node.tagName === 'span' && node.attrs.length > 0;

export function headingText(heading: Element): string {
  let text = '';
  const read = (parent: Parent, depth: number, inCode: boolean): void => {
    parent.childNodes.forEach((child, index) => {
      if (isText(child)) text += child.value;
      else if (isElement(child) && depth < DEPTH_MAX && !isClutter(child)) {
        const isApart = child.tagName === 'br' || (!inCode && areSetApart(parent.childNodes[index - 1], child));
        if (isApart) text += ' ';
        read(child, depth + 1, inCode || child.tagName === 'code');
      }
    });
  };
  read(heading, 0, false);
  return oneLine(text.slice(0, 4 * HEADING_LENGTH_MAX))
    .slice(0, HEADING_LENGTH_MAX)
    .toWellFormed();
}

export const isLayoutCell = (cell: Element): boolean => holdsBlocks(cell) || isCodeCell(cell);

export const holdsBlocks = (cell: Element): boolean =>
  findElement(cell, (inner) => inner.tagName === 'table' || isHeading(inner)) !== null;

/** True if the cell contains only code. Sphinx and other generators write line numbers and code as a table of two cells. */
function isCodeCell(cell: Element): boolean {
  const [only, ...others] = cell.childNodes.filter(
    (child) => isElement(child) || (isText(child) && child.value.trim() !== ''),
  );
  if (!isElement(only) || others.length > 0) return false;
  return only.tagName === 'pre' || (only.tagName === 'div' && isCodeCell(only));
}
