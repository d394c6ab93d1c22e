import { parseSync, Visitor } from 'vite';

/** Text in source code that a user can see. */
export interface CodeString {
  readonly line: number;
  /** Text in which each substitution of a template is replaced by `code`. */
  readonly text: string;
}

const WORDS_MIN = 3;
/** Matches statements and code in strings: SQL, scripts for pages, policies. */
const IS_CODE =
  /^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH|PRAGMA|LISTEN|NOTIFY|BEGIN|COMMIT)\b|[{}=]\s|=>|;\s*\n/;

/** Matches lists of names, such as those of HTML elements. */
const IS_LIST = /^(?!.*\b(?:is|the|that|was|which|not|and|to)\b)(?:[a-z0-9-]+ ){8,}[a-z0-9-]+$/;

/** String literals, templates and text of JSX with at least three words. Sentences that code joins appear in parts. */
export function stringsOf(path: string, code: string): CodeString[] {
  const { program, errors } = parseSync(path, code);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const strings: CodeString[] = [];
  const add = (start: number, raw: string): void => {
    const text = raw
      .replace(/`[^`]+`/g, 'code')
      .replace(/\s+/g, ' ')
      .trim();
    const words = text.split(' ').filter((word) => /^[("“]?\p{L}/u.test(word));
    if (words.length < WORDS_MIN || IS_CODE.test(raw) || IS_LIST.test(text)) return;
    strings.push({ line: code.slice(0, start).split('\n').length, text });
  };
  new Visitor({
    Literal: ({ value, start }) => {
      if (typeof value === 'string') add(start, value);
    },
    TemplateLiteral: ({ quasis, start }) => add(start, quasis.map(({ value }) => value.cooked ?? '').join('code')),
    JSXText: ({ value, start }) => add(start, value),
  }).visit(program);
  return strings;
}
