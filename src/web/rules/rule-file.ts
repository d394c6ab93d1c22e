/** Files at the root of a site that say how it is served; they are never served themselves. */
export const RULE_FILES: readonly string[] = ['_redirects', '_headers'];

/** Bounds of the contract, section 9.1. */
const RULES_MAX = 10_000;
export const RULE_FILE_BYTES_MAX = 1024 * 1024;

/** A line that docshelf ignores, or a file that it ignores as a whole. */
export interface RuleFault {
  readonly file: '_redirects' | '_headers';
  /** From 1; null: all of the file. */
  readonly line: number | null;
  /** The rest of a sentence about it, without its end. */
  readonly reason: string;
  /** Use that docshelf makes of the line, the rest of the sentence. Without one, the line is left out. */
  readonly use?: string;
}

/** A file may have half a million bad lines, and is in memory while its site is served. */
const FAULTS_KEPT_MAX = 200;
const REASON_CHARS_MAX = 300;

/** Faults of one file, as many as are kept, and how many there are. */
export class FaultList {
  readonly #file: RuleFault['file'];
  readonly #kept: RuleFault[] = [];
  #count = 0;

  constructor(file: RuleFault['file']) {
    this.#file = file;
  }

  add(line: number | null, reason: string, use?: string): void {
    this.#count += 1;
    if (this.#kept.length === FAULTS_KEPT_MAX) return;
    const cut = reason.length > REASON_CHARS_MAX ? `${reason.slice(0, REASON_CHARS_MAX)}…` : reason;
    this.#kept.push({ file: this.#file, line, reason: cut, ...(use !== undefined && { use }) });
  }

  get count(): number {
    return this.#count;
  }

  /** By line. */
  get kept(): readonly RuleFault[] {
    return this.#kept.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
  }
}

export interface RuleLine {
  readonly number: number;
  /** Trimmed, not empty and no comment. */
  readonly text: string;
}

const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** Lines with rules. Lines with control characters are reported and ignored. */
export function* ruleLines(text: string, onFault: (line: number, reason: string) => void): Generator<RuleLine> {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  for (const [index, line] of lines.entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    if (CONTROL.test(trimmed)) onFault(index + 1, 'holds a control character');
    else yield { number: index + 1, text: trimmed };
  }
}

/** Counts the rules of a file, and rejects those over the limit. */
export class RuleCounter {
  #count = 0;

  /** @returns null, or why there is no place for it; empty for those behind the first */
  refuse(): string | null {
    this.#count += 1;
    if (this.#count <= RULES_MAX) return null;
    return this.#count === RULES_MAX + 1 ? `is over the limit of ${RULES_MAX} rules, as are all that follow` : '';
  }
}

/**
 * Units that the rules of a site may cost one request, of 2 ns (idle) to 5 ns (busy machine): half a millisecond, whatever
 * a bundle brings. A request to a site with ten thousand usual rules costs some 2,000.
 */
export const REQUEST_UNITS = 100_000;

/** Work that one request may cause. Counted instead of timed, so that equal requests get equal responses. */
export class Work {
  #left: number;
  readonly #given: number;

  constructor(units = REQUEST_UNITS) {
    this.#given = units;
    this.#left = units;
  }

  /** @returns false if the work is used up */
  spend(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }

  get spent(): number {
    return this.#given - this.#left;
  }
}

/** Characters of a path or a header value that is built from a rule. Clients and proxies accept 8 KiB for a line. */
export const BUILT_CHARS_MAX = 8192;

/** Builds a path or a header value piece by piece, and stops at 8 KiB. */
export class BoundedText {
  #text = '';
  #isCut = false;

  /** Characters that still fit. */
  get room(): number {
    return BUILT_CHARS_MAX - this.#text.length;
  }

  get endsWithSlash(): boolean {
    return this.#text.endsWith('/');
  }

  /** @returns false if the piece does not fit: the text is lost, and costs no more work */
  add(piece: string): boolean {
    if (this.#isCut || piece.length > this.room) this.#isCut = true;
    else this.#text += piece;
    return !this.#isCut;
  }

  /** Null if a piece did not fit. */
  get text(): string | null {
    return this.#isCut ? null : this.#text;
  }
}
