/** HTML elements that end SVG and MathML around them (HTML standard, 13.2.6.5). */
const BREAKOUT = new Set(
  (
    'b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta ' +
    'nobr ol p pre ruby s small span strong strike sub sup table tt u ul var'
  ).split(' '),
);

const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

type Namespace = 'html' | 'svg' | 'math';

const INTEGRATION_POINTS: Readonly<Record<Namespace, ReadonlySet<string>>> = {
  html: new Set<string>(),
  svg: new Set(['foreignobject', 'desc', 'title']),
  math: new Set(['mi', 'mo', 'mn', 'ms', 'mtext']),
};

/** Deeper nesting is not followed: only a page that means harm has it. */
const DEPTH_MAX = 256;

/**
 * Tells HTML from SVG and MathML, for raw text and CDATA. Simplified: end tags close the nearest element of their name;
 * `font` and `annotation-xml`, which depend on attributes, are ordinary.
 */
export class ForeignStack {
  readonly #names: string[] = [];
  readonly #namespaces: Namespace[] = [];

  get isEmpty(): boolean {
    return this.#names.length === 0;
  }

  get isForeign(): boolean {
    return this.#names.length > 0 && this.#namespace !== 'html';
  }

  get #namespace(): Namespace {
    return this.#namespaces.at(-1) ?? 'html';
  }

  get #isInHtml(): boolean {
    return !this.isForeign || INTEGRATION_POINTS[this.#namespace].has(this.#names.at(-1) ?? '');
  }

  open(name: string, isSelfClosing: boolean): boolean {
    const begins = name === 'svg' || name === 'math';
    if (this.#names.length === 0 && !begins) return true;
    if (BREAKOUT.has(name)) this.#breakOut();
    const isInHtml = this.#isInHtml;
    const namespace = begins && isInHtml ? name : isInHtml ? 'html' : this.#namespace;
    const isHtml = namespace === 'html';
    const isEmpty = isHtml ? VOID.has(name) : isSelfClosing;
    if (!isEmpty && !(isHtml && this.#names.length === 0) && this.#names.length < DEPTH_MAX) {
      this.#names.push(name);
      this.#namespaces.push(namespace);
    }
    return isHtml;
  }

  /** @returns true where what is closed is of SVG or MathML */
  close(name: string): boolean {
    if (this.#names.length === 0) return false;
    if (this.isForeign && (name === 'p' || name === 'br')) this.#breakOut();
    const at = this.#names.lastIndexOf(name);
    if (at === -1) return false;
    const isForeign = this.#namespaces[at] !== 'html';
    while (this.#names.length > at) this.#pop();
    return isForeign;
  }

  #breakOut(): void {
    while (!this.#isInHtml) this.#pop();
  }

  #pop(): void {
    this.#names.pop();
    this.#namespaces.pop();
  }
}
