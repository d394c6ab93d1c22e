export const RULE_FILES: readonly string[] = ['_redirects', '_headers'];

const RULES_MAX = 10_000;
export const RULE_FILE_BYTES_MAX = 1024 * 1024;

export interface RuleFault {
  readonly file: '_redirects' | '_headers';
  readonly line: number | null;
  /** End of the error message, without a period. The message begins with the file and the line number. */
  readonly reason: string;
  /** Clause for the error message that says which part of the line docshelf still applies. Missing if docshelf ignores the line. */
  readonly use?: string;
}

/** Maximum errors to keep in memory for each rule file. A file may have half a million invalid lines. */
const FAULTS_KEPT_MAX = 200;
const REASON_CHARS_MAX = 300;

export class FaultList {
  count = 0;
  readonly #file: RuleFault['file'];
  readonly #kept: RuleFault[] = [];
  #rules = 0;

  constructor(file: RuleFault['file']) {
    this.#file = file;
  }

  /**
   * True if docshelf must ignore the next rule, because the file already has the maximum number of rules. Reports only the
   * first ignored rule.
   */
  refusesRule(line: number): boolean {
    this.#rules += 1;
    if (this.#rules === RULES_MAX + 1) this.add(line, `is after rule ${RULES_MAX}, the last that docshelf reads`);
    return this.#rules > RULES_MAX;
  }

  add(line: number | null, reason: string, use?: string): void {
    this.count += 1;
    if (this.#kept.length === FAULTS_KEPT_MAX) return;
    const cut = reason.length > REASON_CHARS_MAX ? `${reason.slice(0, REASON_CHARS_MAX)}…` : reason;
    this.#kept.push({ file: this.#file, line, reason: cut, ...(use !== undefined && { use }) });
  }

  get kept(): readonly RuleFault[] {
    return this.#kept.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
  }
}

export type RuleLine = { readonly number: number; readonly text: string };

const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/**
 * Yields the trimmed lines of a rule file, without comments and empty lines. Adds an error to `faults` for each line with
 * control characters.
 */
export function* ruleLines(text: string, faults: FaultList): Generator<RuleLine> {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  for (const [index, line] of lines.entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    if (CONTROL.test(trimmed)) faults.add(index + 1, 'contains a control character');
    else yield { number: index + 1, text: trimmed };
  }
}

/**
 * Maximum work units to match rules for one request. A unit takes 2 to 5 ns. A site with 10,000 usual rules needs 2,000 units
 * per request.
 */
export const REQUEST_UNITS = 100_000;

/** Budget of work to match rules for one request. Counts work instead of time, so that equal requests get equal responses. */
export class Work {
  #left: number;
  readonly #given: number;

  constructor(units = REQUEST_UNITS) {
    this.#given = units;
    this.#left = units;
  }

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

/** Maximum length of a path or header value that a rule builds. Clients and proxies accept lines of 8 KiB. */
export const BUILT_CHARS_MAX = 8192;
