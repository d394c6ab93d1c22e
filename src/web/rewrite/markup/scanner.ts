import { APOSTROPHE, BANG, EQUALS, GREATER, isLetter, isSpace, LESS, QUESTION, QUOTE, SLASH } from './characters.ts';
import { Names } from './names.ts';
import { endOfRawText, endOfScript } from './raw-text.ts';

export const END = 0;
export const START_TAG = 1;
export const END_TAG = 2;
/** `<?…?>`, in XML only: in HTML it is a comment. */
export const INSTRUCTION = 3;
export const CDATA = 4;
export const COMMENT = 5;

const ATTRIBUTE_NUMBERS = 4;

/**
 * Tokenizes markup by the rules of the HTML standard (13.2.5), or of XML, and says where everything stands.
 *
 * Written by hand because of its speed: it jumps from tag to tag and makes no strings that nobody asks for (more than five times what
 * parse5's tokenizer does, and with the places of the values, which that does not give). A test compares the two over real pages and
 * generated ones. Pull it: `next()` moves to the next token, whose parts are then in the fields.
 */
export class MarkupScanner {
  readonly text: string;
  readonly isXml: boolean;
  /** Whether `<![CDATA[` means something here: in XML, and inside SVG and MathML. The reader, who knows, sets it. */
  allowsCdata: boolean;
  /** The text before this token. */
  textStart = 0;
  textEnd = 0;
  isSelfClosing = false;
  attributeCount = 0;
  /** What is inside an instruction, a CDATA section, an element's raw text or a comment; nothing in what is only read as a comment. */
  contentStart = 0;
  contentEnd = 0;
  #at = 0;
  #nameStart = 0;
  #nameEnd = 0;
  readonly #names: Names;
  /** Start and end of the name, start and end of the value of each attribute; they are kept, and reused, for every tag. */
  readonly #attributes: number[] = [];
  /** The first `--!>` at or behind the place that was last asked for; looked for once. */
  #nextBang = -1;

  constructor(text: string, isXml = false) {
    this.text = text;
    this.isXml = isXml;
    this.#names = new Names(text);
    this.allowsCdata = isXml;
  }

  /** One of the tokens' numbers; `END` once the text is over, whose last part may be text. An unfinished tag is no token. */
  next(): number {
    const { text } = this;
    this.textStart = this.#at;
    for (let from = this.#at; ; ) {
      const open = text.indexOf('<', from);
      if (open === -1) break;
      this.textEnd = open;
      const code = text.charCodeAt(open + 1);
      if (this.#isNameStart(code)) return this.#tag(open + 1, START_TAG);
      if (code === SLASH) {
        const name = text.charCodeAt(open + 2);
        if (this.#isNameStart(name)) return this.#tag(open + 2, END_TAG);
        if (open + 2 < text.length) return this.#comment(open + 2, '>');
      } else if (code === BANG) return this.#declaration(open);
      else if (code === QUESTION) return this.isXml ? this.#instruction(open) : this.#comment(open + 1, '>');
      from = open + 1;
    }
    this.#at = text.length;
    this.textEnd = text.length;
    return END;
  }

  /** Reads on to the end tag of the element just begun, whose content is no markup: `contentStart` to `contentEnd`. */
  skipRawText(): void {
    this.contentStart = this.#at;
    this.contentEnd =
      this.tagName === 'script' ? endOfScript(this.text, this.#at) : endOfRawText(this.text, this.#at, this.tagName);
    this.#at = this.contentEnd;
  }

  /** All the rest is text (`<plaintext>`). */
  skipAll(): void {
    this.#at = this.text.length;
  }

  /** A tag's name in lower case. */
  get tagName(): string {
    return this.#names.at(this.#nameStart, this.#nameEnd);
  }

  /** An attribute's name in lower case. */
  attributeName(index: number): string {
    const at = index * ATTRIBUTE_NUMBERS;
    return this.#names.at(this.#attributes[at] ?? 0, this.#attributes[at + 1] ?? 0);
  }

  /** Where an attribute's value stands, without quotes; `valueEnd` the same where there is none. */
  valueStart(index: number): number {
    return this.#attributes[index * ATTRIBUTE_NUMBERS + 2] ?? 0;
  }

  valueEnd(index: number): number {
    return this.#attributes[index * ATTRIBUTE_NUMBERS + 3] ?? 0;
  }

  isQuoted(index: number): boolean {
    const before = this.text.charCodeAt(this.valueStart(index) - 1);
    return before === QUOTE || before === APOSTROPHE;
  }

  /** The first attribute of that name, which is the one that counts, or -1. */
  indexOfAttribute(name: string): number {
    for (let index = 0; index < this.attributeCount; index++) {
      const at = index * ATTRIBUTE_NUMBERS;
      const length = (this.#attributes[at + 1] ?? 0) - (this.#attributes[at] ?? 0);
      if (length === name.length && this.attributeName(index) === name) return index;
    }
    return -1;
  }

  /** Attributes of an instruction's data, as `xml-stylesheet` has them. */
  readAttributes(start: number): void {
    this.#readAttributes(start);
  }

  #isNameStart(code: number): boolean {
    return isLetter(code) || (this.isXml && (code === 0x5f || code === 0x3a || code >= 0x80));
  }

  #tag(nameStart: number, token: number): number {
    const { text } = this;
    let at = nameStart + 1;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === GREATER || code === SLASH || isSpace(code)) break;
    }
    this.#nameStart = nameStart;
    this.#nameEnd = at;
    return this.#readAttributes(at) ? token : this.#finish();
  }

  /** From behind a tag's name to behind its `>`. False where the text ends before. */
  #readAttributes(start: number): boolean {
    const { text } = this;
    const attributes = this.#attributes;
    let count = 0;
    let at = start;
    this.isSelfClosing = false;
    this.attributeCount = 0;
    while (at < text.length) {
      let code = text.charCodeAt(at);
      if (isSpace(code)) {
        at++;
        continue;
      }
      if (code === GREATER) {
        this.attributeCount = count / ATTRIBUTE_NUMBERS;
        this.#at = at + 1;
        return true;
      }
      if (code === SLASH) {
        at++;
        this.isSelfClosing = text.charCodeAt(at) === GREATER;
        continue;
      }
      // A name may begin with `=`, and with what is a fault anywhere else.
      const nameStart = at;
      at++;
      for (; at < text.length; at++) {
        code = text.charCodeAt(at);
        if (code === EQUALS || code === GREATER || code === SLASH || isSpace(code)) break;
      }
      const nameEnd = at;
      while (isSpace(text.charCodeAt(at))) at++;
      let valueStart = nameEnd;
      let valueEnd = nameEnd;
      if (text.charCodeAt(at) === EQUALS) {
        at++;
        while (isSpace(text.charCodeAt(at))) at++;
        code = text.charCodeAt(at);
        if (code === QUOTE || code === APOSTROPHE) {
          valueStart = at + 1;
          valueEnd = text.indexOf(code === QUOTE ? '"' : "'", valueStart);
          if (valueEnd === -1) return false;
          at = valueEnd + 1;
        } else {
          valueStart = at;
          for (; at < text.length; at++) {
            code = text.charCodeAt(at);
            if (code === GREATER || isSpace(code)) break;
          }
          valueEnd = at;
        }
      }
      attributes[count++] = nameStart;
      attributes[count++] = nameEnd;
      attributes[count++] = valueStart;
      attributes[count++] = valueEnd;
    }
    return false;
  }

  #finish(): number {
    this.#at = this.text.length;
    return END;
  }

  #declaration(open: number): number {
    const { text } = this;
    if (text.startsWith('--', open + 2)) return this.#realComment(open);
    if (this.allowsCdata && text.startsWith('[CDATA[', open + 2)) {
      const end = text.indexOf(']]>', open + 9);
      this.#setContent(open + 9, end === -1 ? text.length : end);
      this.#at = end === -1 ? text.length : end + 3;
      return CDATA;
    }
    return this.isXml ? this.#xmlDoctype(open) : this.#comment(open + 2, '>');
  }

  #realComment(open: number): number {
    const { text } = this;
    const isXml = this.isXml;
    // `<!-->` and `<!--->` are whole comments in HTML.
    const end = text.indexOf('-->', open + (isXml ? 4 : 2));
    const limit = end === -1 ? text.length : end;
    if (!isXml) {
      if (this.#nextBang < open + 4) {
        const bang = text.indexOf('--!>', open + 4);
        this.#nextBang = bang === -1 ? text.length : bang;
      }
      if (this.#nextBang < limit) {
        this.#setContent(open + 4, this.#nextBang);
        this.#at = this.#nextBang + 4;
        return COMMENT;
      }
    }
    this.#setContent(open + 4, limit);
    this.#at = end === -1 ? text.length : end + 3;
    return COMMENT;
  }

  /** What ends at the first mark behind `start`: the comments that are none, doctypes among them. */
  #comment(start: number, mark: string): number {
    const end = this.text.indexOf(mark, start);
    this.#setContent(start, start);
    this.#at = end === -1 ? this.text.length : end + mark.length;
    return COMMENT;
  }

  #setContent(start: number, end: number): void {
    this.contentStart = start;
    this.contentEnd = end;
  }

  #instruction(open: number): number {
    const end = this.text.indexOf('?>', open + 2);
    this.#setContent(open + 2, end === -1 ? this.text.length : end);
    this.#at = end === -1 ? this.text.length : end + 2;
    return INSTRUCTION;
  }

  /** An XML doctype may hold declarations in brackets, whose quoted values may hold anything. */
  #xmlDoctype(open: number): number {
    const { text } = this;
    let depth = 0;
    for (let at = open + 2; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE || code === APOSTROPHE) {
        at = text.indexOf(code === QUOTE ? '"' : "'", at + 1);
        if (at === -1) break;
      } else if (code === LESS) {
        if (text.startsWith('<!--', at)) {
          const end = text.indexOf('-->', at + 4);
          if (end === -1) break;
          at = end + 2;
        } else depth++;
      } else if (code === GREATER) {
        if (depth === 0) {
          this.#at = at + 1;
          return COMMENT;
        }
        depth--;
      }
    }
    return this.#finish();
  }
}
