import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

export interface MarkupReader {
  onStartTag(): void;
  onEndTag?(): void;
  onText?(start: number, end: number): void;
  onCdata?(start: number, end: number): void;
  onComment?(start: number, end: number): void;
  onInstruction?(start: number, end: number): void;
  onDoctype?(start: number): void;
}

const ATTRIBUTE_NUMBERS = 4;
const CDATA = '<![CDATA[';
/** Replaces `<![CDATA[` in HTML, where browsers read it as a comment. Has the same length, so that positions do not change. */
const NO_CDATA = '<!_CDATA[';

/**
 * Finds tags and attributes in HTML or XML. Restarts htmlparser2's tokenizer after markup that the tokenizer does not read as
 * the HTML standard requires.
 */
export class MarkupScanner {
  readonly text: string;
  readonly isXml: boolean;
  isHtml = false;
  foreignStart = 0;
  tagStart = 0;
  isSelfClosing = false;
  attributeCount = 0;
  #nameStart = 0;
  #nameEnd = 0;
  #name: string | null = null;
  #isEndTag = false;
  contentStart = 0;
  /** Positions of the current tag's attributes. Each attribute has four: start and end of its name, start and end of its value. */
  readonly #attributes: number[] = [];
  readonly #foreign = new ForeignStack();
  #base = 0;
  /** Position in the text at which the tokenizer must restart. Null while the tokenizer runs. */
  #resumeAt: number | null = null;
  /** True if the tokenizer must restart inside an end tag, to read the attributes of the end tag like those of a start tag. */
  #resumesInEndTag = false;
  #tokenizer: Tokenizer | null = null;
  #nextCdata = -1;

  constructor(text: string, isXml = false) {
    this.text = text;
    this.isXml = isXml;
  }

  read(reader: MarkupReader): void {
    const options = { xmlMode: this.isXml, decodeEntities: false };
    const tokenizer = new Tokenizer(options, this.#callbacks(reader));
    this.#tokenizer = tokenizer;
    for (let from: number | null = 0; from !== null; from = this.#resumeAt) {
      this.#resumeAt = null;
      tokenizer.reset();
      this.#base = from;
      this.#isEndTag = this.#resumesInEndTag;
      this.#resumesInEndTag = false;
      if (this.#isEndTag) {
        this.#base = from - 1;
        tokenizer.write('<');
      }
      this.#feed(tokenizer, from);
      if (this.#resumeAt === null) tokenizer.end();
    }
  }

  /** Skips the content of a raw text element, such as a script. @returns position of the end of the content */
  skipRawText(): number {
    const skip = this.tagName === 'script' ? endOfScript : endOfRawText;
    const end = skip(this.text, this.contentStart, this.tagName);
    this.#resume(end);
    return end;
  }

  skipAll(): void {
    this.#resume(this.text.length);
  }

  get tagName(): string {
    this.#name ??= this.text.slice(this.#nameStart, this.#nameEnd).toLowerCase();
    return this.#name;
  }

  get isForeign(): boolean {
    return this.#foreign.isForeign;
  }

  attributeName(index: number): string {
    const at = index * ATTRIBUTE_NUMBERS;
    return this.text.slice(this.#attributes[at], this.#attributes[at + 1]).toLowerCase();
  }

  /** Position of the attribute's value, after the opening quote. Equal to `valueEnd` if the attribute has no value. */
  valueStart(index: number): number {
    return this.#attributes[index * ATTRIBUTE_NUMBERS + 2] ?? 0;
  }

  valueEnd(index: number): number {
    return this.#attributes[index * ATTRIBUTE_NUMBERS + 3] ?? 0;
  }

  /** Attribute value as written in the file, with undecoded character references. */
  writtenValue(index: number): string {
    return this.text.slice(this.valueStart(index), this.valueEnd(index));
  }

  /** Value of the named attribute as written in the file, with undecoded character references. Null if the tag lacks it. */
  attribute(name: string): string | null {
    const index = this.indexOfAttribute(name);
    return index === -1 ? null : this.writtenValue(index);
  }

  isQuoted(index: number): boolean {
    const before = this.text[this.valueStart(index) - 1];
    return before === '"' || before === "'";
  }

  indexOfAttribute(name: string): number {
    for (let index = 0; index < this.attributeCount; index++) {
      const at = index * ATTRIBUTE_NUMBERS;
      const length = (this.#attributes[at + 1] ?? 0) - (this.#attributes[at] ?? 0);
      if (length === name.length && this.attributeName(index) === name) return index;
    }
    return -1;
  }

  /**
   * Passes the text to the tokenizer in parts. The part before a `<![CDATA[` mark decides whether this mark begins a comment,
   * so pass it before the mark.
   */
  #feed(tokenizer: Tokenizer, from: number): void {
    const { text } = this;
    let at = from;
    while (!this.isXml && this.#resumeAt === null) {
      const cdata = this.#cdataFrom(at);
      if (cdata === text.length) break;
      tokenizer.write(text.slice(at, cdata));
      at = cdata + CDATA.length;
      if (this.#resumeAt === null) tokenizer.write(this.isForeign ? CDATA : NO_CDATA);
    }
    if (this.#resumeAt === null) tokenizer.write(at === 0 ? text : text.slice(at));
  }

  /** Position of the next `<![CDATA[`. Cached, because a search after each restart of the tokenizer would take quadratic time. */
  #cdataFrom(at: number): number {
    if (this.#nextCdata < at) {
      const found = this.text.indexOf(CDATA, at);
      this.#nextCdata = found === -1 ? this.text.length : found;
    }
    return this.#nextCdata;
  }

  #resume(at: number): void {
    this.#resumeAt = at;
    this.#tokenizer?.pause();
  }

  #callbacks(reader: MarkupReader): TokenizerCallbacks {
    const { text } = this;
    const attributes = this.#attributes;
    let numbers = 0;
    const begin = (start: number, end: number): void => {
      this.tagStart = this.#base + start - 1;
      this.#nameStart = this.#base + start;
      this.#nameEnd = this.#base + end;
      this.#name = null;
      numbers = 0;
      this.attributeCount = 0;
    };
    const nothing = (): void => {};
    const endTag = (): void => {
      if (!this.isXml) this.isHtml = this.#foreign.isEmpty || !this.#foreign.close(this.tagName);
      reader.onEndTag?.();
    };
    const finish = (end: number, isSelfClosing: boolean): void => {
      this.contentStart = this.#base + end + 1;
      if (this.#isEndTag) {
        this.#isEndTag = false;
        this.tagStart -= 1;
        endTag();
        return;
      }
      // Check for the slash before `>`, because the tokenizer also reports a tag that ends in `/ >` as self-closing.
      this.isSelfClosing = isSelfClosing && text[this.contentStart - 2] === '/';
      this.attributeCount = numbers / ATTRIBUTE_NUMBERS;
      if (!this.isXml) {
        if (this.#foreign.isEmpty) this.foreignStart = this.tagStart;
        this.isHtml = this.#foreign.open(this.tagName, this.isSelfClosing);
      }
      reader.onStartTag();
    };
    const report = (handler: ((start: number, end: number) => void) | undefined) => {
      return (start: number, end: number): void => handler?.(this.#base + start, this.#base + end);
    };
    const [onCdata, onComment, ontext] = [reader.onCdata, reader.onComment, reader.onText].map((handler) =>
      report(handler?.bind(reader)),
    );
    return {
      onopentagname: begin,
      onopentagend: (end) => finish(end, false),
      onselfclosingtag: (end) => finish(end, true),
      onattribname: (start, end) => {
        attributes[numbers] = this.#base + start;
        attributes[numbers + 1] = this.#base + end;
        attributes[numbers + 2] = -1;
        attributes[numbers + 3] = this.#base + end;
      },
      onattribdata: (start, end) => {
        if (attributes[numbers + 2] === -1) attributes[numbers + 2] = this.#base + start;
        attributes[numbers + 3] = this.#base + end;
      },
      onattribend: () => {
        if (attributes[numbers + 2] === -1) attributes[numbers + 2] = attributes[numbers + 1] ?? 0;
        numbers += ATTRIBUTE_NUMBERS;
      },
      onclosetag: (start, end) => {
        begin(start, end);
        this.tagStart -= 1;
        let at = this.#base + end;
        while (text.charCodeAt(at) <= 0x20) at++;
        if (text[at] === '>') return endTag();
        this.#resumesInEndTag = true;
        this.#resume(this.#base + start);
      },
      oncdata: (start, end, offset) => onCdata?.(start, end - offset),
      oncomment: (start, end, offset) => {
        if (text.startsWith('--', this.#base + start - 2)) onComment?.(start, end - offset);
      },
      ondeclaration: (start) => {
        if (this.isXml) this.#resume(endOfDoctype(text, this.#base + start));
        else reader.onDoctype?.(this.#base + start);
      },
      onprocessinginstruction: report(reader.onInstruction?.bind(reader)),
      // For an unfinished tag, the tokenizer reports text that begins at -1. Ignore this text.
      ontext: (start, end) => {
        if (start >= 0) ontext?.(start, end);
      },
      // In foreign content, the tokenizer does not skip raw text such as scripts. Always report foreign content, because the
      // scanner skips raw text itself.
      isInForeignContext: () => true,
      onattribentity: nothing,
      ontextentity: nothing,
      onend: nothing,
    };
  }
}

/** HTML elements whose start tag ends SVG and MathML around the element (HTML standard, 13.2.6.5). */
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

/** Maximum depth of nested SVG and MathML elements. Only hostile pages nest these elements deeper. */
const DEPTH_MAX = 256;

/** Open SVG and MathML elements. Simpler than the HTML standard: ignores the attributes of `font` and `annotation-xml`. */
class ForeignStack {
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

const ENDS_NAME = /[\t\n\f\r />]/;

function isTagNameAt(text: string, at: number, name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    if ((text.charCodeAt(at + index) | 0x20) !== name.charCodeAt(index)) return false;
  }
  const after = at + name.length;
  return after < text.length && ENDS_NAME.test(text[after] ?? '');
}

function endOfRawText(text: string, start: number, name: string): number {
  for (let at = text.indexOf('</', start); at !== -1; at = text.indexOf('</', at + 2)) {
    if (isTagNameAt(text, at + 2, name)) return at;
  }
  return text.length;
}

/**
 * Position of the end of a script. A `<script` inside `<!-- -->` needs another `</script` (HTML standard, 13.2.5.4, 13.2.5.15
 * to 13.2.5.31).
 */
function endOfScript(text: string, start: number): number {
  const plainEnd = endOfRawText(text, start, 'script');
  // Search only a slice of the page. Otherwise, the search could read the whole page again for each script.
  const opening = text.slice(start, plainEnd).indexOf('<!--') + start;
  if (opening < start) return plainEnd;

  let state: 'plain' | 'escaped' | 'doubly' = 'escaped';
  /** Position of the next `-->`. Stored, because a search at each `<` would take quadratic time. */
  let close = next(text, '-->', opening + 2);
  let at = opening + 4;
  for (;;) {
    const tag = next(text, '<', at);
    if (state !== 'plain' && close < tag) {
      state = 'plain';
      at = close + 3;
      continue;
    }
    if (tag === text.length) return tag;
    at = tag + 1;
    if (state === 'plain') {
      if (text.startsWith('!--', at)) {
        state = 'escaped';
        at += 3;
        if (close < at - 2) close = next(text, '-->', at - 2);
      } else if (text[at] === '/' && isTagNameAt(text, at + 1, 'script')) return tag;
    } else if (text[at] === '/' && isTagNameAt(text, at + 1, 'script')) {
      if (state === 'escaped') return tag;
      state = 'escaped';
    } else if (state === 'escaped' && isTagNameAt(text, at, 'script')) state = 'doubly';
  }
}

function next(text: string, searched: string, from: number): number {
  const at = text.indexOf(searched, from);
  return at === -1 ? text.length : at;
}

function endOfDoctype(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '"' || character === "'") at = next(text, character, at + 1);
    else if (character === '<') {
      if (text.startsWith('<!--', at)) at = next(text, '-->', at + 4) + 2;
      else depth++;
    } else if (character === '>') {
      if (depth === 0) return at + 1;
      depth--;
    }
  }
  return text.length;
}
