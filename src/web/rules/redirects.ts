import { type Captures, PathPattern, withoutSlash } from './path-pattern.ts';
import { RedirectTarget } from './redirect-target.ts';
import { FaultList, RuleCounter, type RuleLine, ruleLines } from './rule-file.ts';
import { RuleTrie } from './rule-trie.ts';
import { Work } from './work.ts';

export interface RedirectRule {
  readonly pattern: PathPattern;
  readonly target: RedirectTarget;
  /** 200: a file of the site in place of another; 404: its page for what is missing; else a redirect. */
  readonly status: number;
  /** Before a file of that path. */
  readonly isForced: boolean;
}

export interface MatchedRule {
  readonly rule: RedirectRule;
  readonly captures: Captures;
}

const STATUSES = new Set([200, 301, 302, 303, 307, 308, 404]);
/** For whom a rule holds on the hosts that this syntax is of. */
const CONDITION = /^(?:country|language|role|cookie)=/i;

/** `_redirects`, in the syntax that Netlify and Cloudflare Pages share (contract, section 9.1). */
export function parseRedirects(text: string): { rules: RedirectRules; faults: FaultList } {
  const faults = new FaultList('_redirects');
  const rules = new RedirectRules();
  const lines = new Map<RedirectRule, number>();
  const counter = new RuleCounter();
  const circles = new Circles();
  for (const line of ruleLines(text, (number, reason) => faults.add(number, reason))) {
    const refusal = counter.refuse();
    const rule = refusal ?? parseRule(line);
    const reason = typeof rule === 'string' ? rule : (circles.refuse(rule) ?? rules.add(rule));
    if (typeof rule !== 'string' && reason === null) lines.set(rule, line.number);
    else if (reason) faults.add(line.number, reason);
  }
  for (const { rule, path } of endlessRules(lines.keys(), rules)) {
    const use = 'it is applied only to paths from which the redirects end';
    faults.add(lines.get(rule) ?? null, `redirects for ever, by "${path}"`, use);
  }
  return { rules, faults };
}

function parseRule({ text }: RuleLine): RedirectRule | string {
  const words = text.split(/\s+/);
  const comment = words.findIndex((word) => word.startsWith('#'));
  const [from = '', to, ...rest] = comment === -1 ? words : words.slice(0, comment);
  if (/^https?:\/\//i.test(from)) return `"${from}" names a host; rules of docshelf begin with a path`;
  if (to === undefined) return 'says no target';
  if (!/^(?:\/|https?:)/i.test(to) && to.includes('='))
    return `asks for the query "${to}", which docshelf does not match`;
  const pattern = PathPattern.parse(from);
  if (typeof pattern === 'string') return pattern;
  const target = RedirectTarget.parse(to);
  if (typeof target === 'string') return target;
  const [word = '301', ...more] = rest.length > 0 && CONDITION.test(rest[0] ?? '') ? ['301', ...rest] : rest;
  const isForced = word.endsWith('!');
  const status = /^\d{3}!?$/.test(word) ? Number.parseInt(word, 10) : Number.NaN;
  if (!STATUSES.has(status)) return `says "${word}", which is none of ${[...STATUSES].join(', ')}`;
  if (more.length > 0) return `holds under a condition (${more.join(' ')}), which docshelf does not know`;
  if (target.origin !== null && (status === 200 || status === 404)) {
    return `asks ${target.origin} with status ${status}; docshelf hands no request on`;
  }
  return { pattern, target, status, isForced };
}

/** Redirects between paths that stand there as they are, as far as the first rule of each leads. */
class Circles {
  readonly #next = new Map<string, string>();

  /** Null, or that the rule would lead its reader in a circle. */
  refuse({ pattern, target, status }: RedirectRule): string | null {
    const from = pattern.literal;
    if (from === null || target.origin !== null || !target.isLiteral || status === 200 || status === 404) return null;
    const to = target.pathOf(new Map());
    if (to === null || this.#next.has(from)) return null;
    const first = withoutSlash(to);
    // `/a /a/` is what adds a slash.
    if (first === from && to !== from) return null;
    let at: string | undefined = first;
    for (let steps = 0; at !== undefined && steps <= CIRCLE_MAX; steps++) {
      if (at === from) return `leads back to "${from}"`;
      at = this.#next.get(at);
    }
    this.#next.set(from, first);
    return null;
  }
}

/** Literal rules of which each leads to the next. */
const CIRCLE_MAX = 50;

/** Browsers give up after so many redirects. */
export const REDIRECTS_MAX = 20;
/** Units of a file: some 20 ms. Rules after that are only looked at when they are requested. */
const SURVEY_UNITS = 5_000_000;

/** Rules that redirect a sample of their paths from rule to rule, unless a file of the site ends that. */
function* endlessRules(
  rules: Iterable<RedirectRule>,
  redirects: RedirectRules,
): Generator<{ readonly rule: RedirectRule; readonly path: string }> {
  const survey = new Work(SURVEY_UNITS);
  for (const rule of rules) {
    // A circle of literal rules is left out as it is read, and every other has a rule that is none.
    if (rule.pattern.literal !== null || !isInside(rule)) continue;
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
    // It has grown longer than an address.
    if (next === null) return true;
    at = next;
  }
  return true;
}

/** The first rule that does not lead to the very path. */
function firstAway(path: string, redirects: RedirectRules, work: Work): MatchedRule | null {
  for (const rules of [redirects.forced(path, work), redirects.others(path, work)]) {
    for (const matched of rules) if (matched.rule.target.pathOf(matched.captures) !== path) return matched;
  }
  return null;
}

/** True for a redirect to a path of the site. */
function isInside({ target, status }: RedirectRule): boolean {
  return target.origin === null && status !== 200 && status !== 404;
}

/** The rules that match a path, in the order of the file. */
export class RedirectRules {
  readonly #forced = new RuleIndex();
  readonly #others = new RuleIndex();

  /** @returns null, or why there is no room for it: the rest of a sentence */
  add(rule: RedirectRule): string | null {
    return (rule.isForced ? this.#forced : this.#others).add(rule);
  }

  get isEmpty(): boolean {
    return this.#forced.isEmpty && this.#others.isEmpty;
  }

  get hasForced(): boolean {
    return !this.#forced.isEmpty;
  }

  /** @param path decoded, with its first slash */
  forced(path: string, work = new Work()): Generator<MatchedRule> {
    return this.#forced.matching(path, work);
  }

  others(path: string, work = new Work()): Generator<MatchedRule> {
    return this.#others.matching(path, work);
  }
}

/** Units of a rule that is tried: its text is read and built. */
const TRY_UNITS = 500;

class RuleIndex {
  readonly #rules: RedirectRule[] = [];
  readonly #trie = new RuleTrie();

  add(rule: RedirectRule): string | null {
    const refusal = this.#trie.add(rule.pattern);
    if (refusal === null) this.#rules.push(rule);
    return refusal;
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  *matching(asked: string, work: Work): Generator<MatchedRule> {
    if (this.isEmpty) return;
    for (const index of this.#trie.find(asked, work) ?? []) {
      const rule = this.#rules[index];
      if (!work.spend(TRY_UNITS + asked.length)) return;
      const captures = rule?.pattern.match(asked) ?? null;
      if (rule !== undefined && captures !== null) yield { rule, captures };
    }
  }
}
