import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { endOfDoctype, endOfRawText, endOfScript } from './raw-text.ts';

/** Hears the tokens of a document. What a tag is made of is asked of the scanner meanwhile. */
export interface MarkupReader {
  onStartTag(): void;
  onEndTag?(): void;
  onText?(start: number, end: number): void;
  onCdata?(start: number, end: number): void;
  /** A real comment, of which `start` to `end` is the inside. */
  onComment?(start: number, end: number): void;
  /** The inside of `<?…?>`, in XML alone: in HTML it is a comment. */
  onInstruction?(start: number, end: number): void;
}

const ATTRIBUTE_NUMBERS = 4;
const CDATA = '<![CDATA[';
/** Given to the tokenizer where CDATA does not exist: the comment that it is then, of the same length. */
const NO_CDATA = '<!_CDATA[';

/**
 * Tokenizes markup, and says where everything stands. The tokenizer is htmlparser2's. Where that differs from the HTML
 * standard it is stopped, and begins anew behind the place; a test compares the whole with parse5, whatever the text.
 *
 * - Raw text is skipped by the reader, who knows whether an element is HTML; scripts have states of their own.
 * - `<![CDATA[` is a comment in HTML content.
 * - End tags may have attributes, whose values may hold a `>`.
 * - An XML doctype may hold declarations.
 */
export class MarkupScanner {
  readonly text: string;
  readonly isXml: boolean;
  /** True where `<![CDATA[` means something: in XML, and inside SVG and MathML. The reader, who knows, sets it. */
  allowsCdata: boolean;
  /** Where the tag begins, with its `<`. */
  tagStart = 0;
  isSelfClosing = false;
  attributeCount = 0;
  #nameStart = 0;
  #nameEnd = 0;
  /** Sliced when it is first asked for: nobody asks for that of most end tags. */
  #name: string | null = null;
  #isEndTag = false;
  /** Where what follows the tag begins. */
  #tagEnd = 0;
  /** Start and end of the name, start and end of the value of each attribute; kept, and reused, for every tag. */
  readonly #attributes: number[] = [];
  /** Place in the text of the tokenizer's 0. */
  #base = 0;
  /** Where the tokenizer is to begin anew; null while it goes on. */
  #resumeAt: number | null = null;
  /** It begins anew inside an end tag, whose attributes it reads as those of a start tag. */
  #resumesInEndTag = false;
  #tokenizer: Tokenizer | null = null;
  #nextCdata = -1;

  constructor(text: string, isXml = false) {
    this.text = text;
    this.isXml = isXml;
    this.allowsCdata = isXml;
  }

  /** Tells of all tokens. An unfinished tag is none. */
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

  /** Skips the content of the element just begun, which is no markup. @returns where it ends; it begins at `contentStart` */
  skipRawText(): number {
    const skip = this.tagName === 'script' ? endOfScript : endOfRawText;
    const end = skip(this.text, this.#tagEnd, this.tagName);
    this.#resume(end);
    return end;
  }

  get contentStart(): number {
    return this.#tagEnd;
  }

  /** Skips all the rest: `<plaintext>`, and whoever has read enough. */
  skipAll(): void {
    this.#resume(this.text.length);
  }

  /** In lower case. */
  get tagName(): string {
    this.#name ??= this.text.slice(this.#nameStart, this.#nameEnd).toLowerCase();
    return this.#name;
  }

  /** In lower case. */
  attributeName(index: number): string {
    const at = index * ATTRIBUTE_NUMBERS;
    return this.text.slice(this.#attributes[at], this.#attributes[at + 1]).toLowerCase();
  }

  /** Where an attribute's value stands, without quotes; `valueEnd` the same where there is none. */
  valueStart(index: number): number {
    return this.#attributes[index * ATTRIBUTE_NUMBERS + 2] ?? 0;
  }

  valueEnd(index: number): number {
    return this.#attributes[index * ATTRIBUTE_NUMBERS + 3] ?? 0;
  }

  isQuoted(index: number): boolean {
    const before = this.text[this.valueStart(index) - 1];
    return before === '"' || before === "'";
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

  /** Writes up to each CDATA mark and then the mark, since the text before it says whether it means something. */
  #feed(tokenizer: Tokenizer, from: number): void {
    const { text } = this;
    let at = from;
    while (!this.isXml && this.#resumeAt === null) {
      const cdata = this.#cdataFrom(at);
      if (cdata === text.length) break;
      tokenizer.write(text.slice(at, cdata));
      at = cdata + CDATA.length;
      if (this.#resumeAt === null) tokenizer.write(this.allowsCdata ? CDATA : NO_CDATA);
    }
    if (this.#resumeAt === null) tokenizer.write(at === 0 ? text : text.slice(at));
  }

  /** Looked for once for each: a search whenever the tokenizer begins anew would cost the square of the text. */
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
    const endTag = (): void => reader.onEndTag?.();
    const finish = (end: number, isSelfClosing: boolean): void => {
      this.#tagEnd = this.#base + end + 1;
      if (this.#isEndTag) {
        this.#isEndTag = false;
        this.tagStart -= 1;
        endTag();
        return;
      }
      // The tokenizer takes `/ >` for it too.
      this.isSelfClosing = isSelfClosing && text[this.#tagEnd - 2] === '/';
      this.attributeCount = numbers / ATTRIBUTE_NUMBERS;
      reader.onStartTag();
    };
    const hear = (told: ((start: number, end: number) => void) | undefined) => {
      return (start: number, end: number): void => told?.(this.#base + start, this.#base + end);
    };
    const [onCdata, onComment, ontext] = [reader.onCdata, reader.onComment, reader.onText].map((told) =>
      hear(told?.bind(reader)),
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
        // A value may come in parts.
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
      },
      onprocessinginstruction: hear(reader.onInstruction?.bind(reader)),
      ontext: (start, end) => ontext?.(start, end),
      // The reader alone knows where raw text is: to the tokenizer all of it is foreign.
      isInForeignContext: () => true,
      onattribentity: nothing,
      ontextentity: nothing,
      onend: nothing,
    };
  }
}

function nothing(): void {}
