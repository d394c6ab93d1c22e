import { type Captures, PathPattern, withoutSlash } from './path-pattern.ts';
import { RedirectTarget } from './redirect-target.ts';
import { RuleCounter, type RuleFault, type RuleLine, ruleLines } from './rule-file.ts';

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
export function parseRedirects(text: string): { rules: RedirectRules; faults: RuleFault[] } {
  const faults: RuleFault[] = [];
  const rules: RedirectRule[] = [];
  const tell = (line: number, reason: string): void => {
    faults.push({ file: '_redirects', line, reason });
  };
  const counter = new RuleCounter();
  const circles = new Circles();
  for (const line of ruleLines(text, tell)) {
    const refusal = counter.refuse();
    const rule = refusal ?? parseRule(line);
    const reason = typeof rule === 'string' ? rule : circles.refuse(rule);
    if (typeof rule !== 'string' && reason === null) rules.push(rule);
    else if (reason) tell(line.number, reason);
  }
  return { rules: new RedirectRules(rules), faults };
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

/** Browsers give up after twenty redirects. */
const CIRCLE_MAX = 50;

interface Indexed {
  readonly index: number;
  readonly rule: RedirectRule;
}

/** The first rule that matches: whole paths by a look, others by their first segment, each in turn. */
export class RedirectRules {
  readonly #forced: RuleIndex;
  readonly #others: RuleIndex;
  readonly isEmpty: boolean;
  readonly hasForced: boolean;

  constructor(rules: readonly RedirectRule[]) {
    this.isEmpty = rules.length === 0;
    this.hasForced = rules.some(({ isForced }) => isForced);
    this.#forced = new RuleIndex(rules.filter(({ isForced }) => isForced));
    this.#others = new RuleIndex(rules.filter(({ isForced }) => !isForced));
  }

  /** @param path decoded, with its first slash. In the order of the rules. */
  forced(path: string): Generator<MatchedRule> {
    return this.#forced.matching(path);
  }

  others(path: string): Generator<MatchedRule> {
    return this.#others.matching(path);
  }
}

class RuleIndex {
  readonly #whole = new Map<string, Indexed[]>();
  readonly #bySegment = new Map<string, Indexed[]>();
  /** Whose first segment is not written. */
  readonly #any: Indexed[] = [];

  constructor(rules: readonly RedirectRule[]) {
    for (const [index, rule] of rules.entries()) {
      const { literal, firstSegment } = rule.pattern;
      if (literal !== null) add(this.#whole, literal, { index, rule });
      else if (firstSegment !== null) add(this.#bySegment, firstSegment, { index, rule });
      else this.#any.push({ index, rule });
    }
  }

  *matching(asked: string): Generator<MatchedRule> {
    const path = withoutSlash(asked);
    const slash = path.indexOf('/', 1);
    const lists = [
      this.#whole.get(path) ?? [],
      this.#bySegment.get(slash === -1 ? path : path.slice(0, slash)) ?? [],
      this.#any,
    ];
    const at = lists.map(() => 0);
    for (;;) {
      const heads = lists.map((list, which) => list[at[which] ?? 0]?.index ?? Number.POSITIVE_INFINITY);
      const first = Math.min(...heads);
      if (first === Number.POSITIVE_INFINITY) return;
      const which = heads.indexOf(first);
      const rule = lists[which]?.[at[which] ?? 0]?.rule;
      at[which] = (at[which] ?? 0) + 1;
      const captures = rule?.pattern.match(path) ?? null;
      if (rule !== undefined && captures !== null) yield { rule, captures };
    }
  }
}

function add(map: Map<string, Indexed[]>, key: string, each: Indexed): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [each]);
  else list.push(each);
}
