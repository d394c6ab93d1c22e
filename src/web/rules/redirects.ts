import { encodeSegments, percentDecode } from '../escape.ts';
import { type Captures, namesHost, PathPattern, RuleIndex } from './path-pattern.ts';
import { BUILT_CHARS_MAX, FaultList, type RuleLine, ruleLines, Work } from './rule-file.ts';

interface RedirectRule {
  readonly pattern: PathPattern;
  readonly target: RedirectTarget;
  /** Status 200 serves the target file, 404 serves it as the error page, and all other values redirect to the target. */
  readonly status: number;
  /** True if the rule takes precedence over a file with the same path. */
  readonly isForced: boolean;
}

export type MatchedRule = { readonly rule: RedirectRule; readonly captures: Captures };

const STATUSES = new Set([200, 301, 302, 303, 307, 308, 404]);
/** Matches conditions after the target of a rule, which Netlify and Cloudflare Pages accept. */
const CONDITION = /^(?:country|language|role|cookie)=/i;

/** Reads `_redirects`, in the syntax of Netlify and Cloudflare Pages. */
export function parseRedirects(text: string): { rules: RedirectRules; faults: FaultList } {
  const faults = new FaultList('_redirects');
  const rules = new RedirectRules();
  const lines = new Map<RedirectRule, number>();
  for (const line of ruleLines(text, faults)) {
    if (faults.refusesRule(line.number)) continue;
    const rule = parseRule(line);
    const reason = typeof rule === 'string' ? rule : rules.add(rule);
    if (typeof rule !== 'string' && reason === null) lines.set(rule, line.number);
    else if (reason !== null) faults.add(line.number, reason);
  }
  for (const { rule, path } of endlessRules(lines.keys(), rules)) {
    const use = 'docshelf applies it only to paths whose redirects end';
    faults.add(lines.get(rule) ?? null, `redirects endlessly through "${path}"`, use);
  }
  return { rules, faults };
}

function parseRule({ text }: RuleLine): RedirectRule | string {
  const words = text.split(/\s+/);
  const comment = words.findIndex((word) => word.startsWith('#'));
  const [from = '', to, ...rest] = comment === -1 ? words : words.slice(0, comment);
  if (/^https?:\/\//i.test(from)) return namesHost(from);
  if (to === undefined) return 'has no target';
  if (!/^(?:\/|https?:)/i.test(to) && to.includes('='))
    return `requires the query "${to}", but docshelf does not compare queries`;
  const pattern = PathPattern.parse(from);
  if (typeof pattern === 'string') return pattern;
  const target = RedirectTarget.parse(to);
  if (typeof target === 'string') return target;
  const [word = '301', ...more] = rest.length > 0 && CONDITION.test(rest[0] ?? '') ? ['301', ...rest] : rest;
  const isForced = word.endsWith('!');
  const status = /^\d{3}!?$/.test(word) ? Number.parseInt(word, 10) : Number.NaN;
  if (!STATUSES.has(status)) return `has the status "${word}", which is not one of ${[...STATUSES].join(', ')}`;
  if (more.length > 0) return `has a condition (${more.join(' ')}), which docshelf does not support`;
  if (target.origin !== null && (status === 200 || status === 404))
    return `has status ${status} for ${target.origin}, but docshelf does not forward requests`;
  return { pattern, target, status, isForced };
}

/** Maximum redirects in a row, the same as in browsers. */
export const REDIRECTS_MAX = 20;
/** Maximum work units (about 20 ms) to search a rule file for endless redirects. Requests check the remaining rules. */
const SURVEY_UNITS = 5_000_000;

function* endlessRules(rules: Iterable<RedirectRule>, redirects: RedirectRules) {
  const survey = new Work(SURVEY_UNITS);
  for (const rule of rules) {
    if (!isInside(rule)) continue;
    const work = new Work();
    const path = rule.target.pathOf(rule.pattern.sample);
    if (path !== null && redirectsForEver(path, redirects, work)) yield { rule, path };
    if (!survey.spend(work.spent)) return;
  }
}

function redirectsForEver(path: string, redirects: RedirectRules, work: Work): boolean {
  let at = path;
  for (let steps = 1; steps <= REDIRECTS_MAX && !work.isSpent; steps++) {
    const matched = firstAway(at, redirects, work);
    if (matched === null || !isInside(matched.rule)) return false;
    const next = matched.rule.target.pathOf(matched.captures);
    if (next === null) return true;
    at = next;
  }
  return true;
}

function firstAway(path: string, redirects: RedirectRules, work: Work): MatchedRule | null {
  for (const rules of [redirects.forced(path, work), redirects.others(path, work)]) {
    for (const matched of rules) if (matched.rule.target.pathOf(matched.captures) !== path) return matched;
  }
  return null;
}

const isInside = ({ target, status }: RedirectRule): boolean =>
  target.origin === null && status !== 200 && status !== 404;

export class RedirectRules {
  readonly #forced = new RuleIndex<RedirectRule>();
  readonly #others = new RuleIndex<RedirectRule>();
  /** Rules that take precedence over files. */
  readonly forcedRules: readonly RedirectRule[] = this.#forced.rules;

  add(rule: RedirectRule): string | null {
    return (rule.isForced ? this.#forced : this.#others).add(rule);
  }

  /** Paths of 404 pages that are the target of forced rules such as `/internal/* /404 404!`. Such rules hide existing pages. */
  hidingPages(): ReadonlySet<string> {
    const hiding = this.forcedRules.filter(({ status, target }) => status === 404 && target.isLiteral);
    return new Set(hiding.flatMap(({ target }) => target.pathOf(new Map()) ?? []));
  }

  /** Yields the rules that match the path and take precedence over files. @param path decoded path with its first slash */
  forced(path: string, work = new Work()): Generator<MatchedRule> {
    return matching(this.#forced, path, work);
  }

  others(path: string, work = new Work()): Generator<MatchedRule> {
    return matching(this.#others, path, work);
  }
}

/** Cost, in units of `Work`, to match a rule and to build its redirect target. */
const TRY_UNITS = 500;

/** Yields the rules that match the path, in the order of the `_redirects` file. */
function* matching(index: RuleIndex<RedirectRule>, asked: string, work: Work): Generator<MatchedRule> {
  if (index.rules.length === 0) return;
  for (const number of index.find(asked, work) ?? []) {
    const rule = index.rules[number];
    if (!work.spend(TRY_UNITS + asked.length)) return;
    if (rule !== undefined) yield { rule, captures: rule.pattern.captures(asked) };
  }
}

const ORIGIN = /^https?:\/\/[^/?#]+/i;
const PLACEHOLDER = /:([A-Za-z]\w*)/g;

type Piece = string | { readonly name: string; readonly written: string };
type Template = readonly Piece[];

export class RedirectTarget {
  readonly origin: string | null;
  /** Host of the target, written as in the `Host` header. */
  readonly host: string | null;
  readonly #path: Template;
  readonly #decodedPath: Template;
  readonly #query: Template;
  readonly #fragment: Template;

  private constructor(origin: string | null, host: string | null, path: string, query: string, fragment: string) {
    this.origin = origin;
    this.host = host;
    this.#path = templateOf(path, escaped);
    this.#decodedPath = templateOf(path, (text) => percentDecode(text) ?? text);
    this.#query = templateOf(query, escaped);
    this.#fragment = templateOf(fragment, escaped);
  }

  static parse(written: string): RedirectTarget | string {
    if (written.length > BUILT_CHARS_MAX) return `has a target of more than ${BUILT_CHARS_MAX} characters`;
    const origin = ORIGIN.exec(written)?.[0] ?? null;
    const url = origin === null ? null : URL.parse(origin);
    if (origin !== null) {
      if (url === null || url.username !== '' || url.password !== '' || /[%\\]/.test(origin))
        return `"${origin}" is not a host that a redirect can name`;
    } else if (!/^\/(?![/\\])/.test(written)) {
      return `"${written}" is neither a path from the root of the site nor an http or https address`;
    }
    const relative = written.slice(origin?.length ?? 0);
    const [, path = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(relative) ?? [];
    if (percentDecode(path) === null) return `"${written}" contains a percent sign that encodes no character`;
    return new RedirectTarget(origin, url?.host ?? null, path === '' ? '/' : path, query, fragment);
  }

  get isLiteral(): boolean {
    return this.#path.every((piece) => typeof piece === 'string');
  }

  /** Decoded path of the target with the captured texts. Null if the path is too long. */
  pathOf(captures: Captures): string | null {
    return filledPath(this.#decodedPath, captures, (text) => text)?.replace(/^\/+/, '/') ?? null;
  }

  /**
   * Value for the `Location` header. Encodes the captured texts, so that they can neither change the host nor add a header.
   * @param query query of the request, with its `?`
   * @param moved function that moves a path to the served base path
   */
  location(captures: Captures, query: string, moved: (path: string) => string): string | null {
    const path = filledPath(this.#path, captures, encodeSegments);
    const ownQuery = filled(this.#query, captures, encodeURIComponent);
    const fragment = filled(this.#fragment, captures, encodeURIComponent);
    if (path === null || ownQuery === null || fragment === null) return null;
    const place = folded(path);
    const isJoined = ownQuery.length > 1 && query.length > 1;
    const address = this.origin === null ? folded(moved(place)) : this.origin + place;
    const built = address + (isJoined ? `${ownQuery}&${query.slice(1)}` : ownQuery || query) + fragment;
    return built.length > BUILT_CHARS_MAX ? null : built;
  }
}

/** Reduces leading slashes to one, because `//host` would redirect to another host. */
const folded = (path: string): string => path.replace(/^[/\\]+/, '/');

function templateOf(written: string, write: (text: string) => string): Template {
  const pieces: Piece[] = [];
  let end = 0;
  for (const { index, 0: placeholder, 1: name = '' } of written.matchAll(PLACEHOLDER)) {
    if (index > end) pieces.push(write(written.slice(end, index)));
    pieces.push({ name, written: placeholder });
    end = index + placeholder.length;
  }
  if (end < written.length) pieces.push(write(written.slice(end)));
  return pieces;
}

/**
 * Fills a template with captured texts. Null if the result is too long.
 * @param join function that returns `text` in the form in which it must follow `built`
 */
function filled(
  template: Template,
  captures: Captures,
  encode: (text: string) => string,
  join = (_built: string, text: string) => text,
): string | null {
  let built = '';
  for (const piece of template) {
    if (typeof piece === 'string') built += join(built, piece);
    else {
      const captured = captures.get(piece.name);
      // Check the length of a captured text before encoding it, because encoding never shortens a text.
      if (captured !== undefined && captured.length > BUILT_CHARS_MAX - built.length) return null;
      built += join(built, captured === undefined ? piece.written : encode(captured));
    }
    if (built.length > BUILT_CHARS_MAX) return null;
  }
  return built;
}

/** Fills the template of a path. If two slashes would be adjacent, omits the second, because paths have no empty segments. */
const filledPath = (template: Template, captures: Captures, encode: (text: string) => string): string | null =>
  filled(template, captures, encode, (built, text) =>
    built.endsWith('/') && text.startsWith('/') ? text.slice(1) : text,
  );

const escaped = (text: string): string => text.replace(/[^\x21-\x7e]|["<>\\^`{|}]/gu, encodeURIComponent);

export function isAt(location: string, host: string | undefined, asked: string): boolean {
  const url = URL.parse(location);
  if (url === null || url.host !== host?.toLowerCase()) return false;
  return percentDecode(url.pathname) === asked;
}
