/** RFC 9309, section 2.5: at least 500 KiB must be read. */
const ROBOTS_BYTES_MAX = 512 * 1024;

interface Rule {
  readonly isAllowed: boolean;
  /** The longest rule is the most specific. */
  readonly path: string;
  /** Between its asterisks. */
  readonly parts: readonly string[];
  readonly isWhole: boolean;
}

const OWN_AGENT = 'docshelf';

/** Rules for docshelf (RFC 9309). robots-parser 3.0.1 takes `/%7Eme` and `/~me` for two paths (2.2.2). */
export class Robots {
  readonly sitemaps: readonly string[];
  readonly #rules: readonly Rule[];

  private constructor(rules: readonly Rule[], sitemaps: readonly string[]) {
    this.#rules = rules;
    this.sitemaps = sitemaps;
  }

  static none(): Robots {
    return new Robots([], []);
  }

  static parse(text: string): Robots {
    const sitemaps: string[] = [];
    const rulesByAgent = new Map<string, Rule[]>();
    let agents: string[] = [];
    let isNaming = false;
    for (const line of text.slice(0, ROBOTS_BYTES_MAX).split(/\r\n?|\n/)) {
      const [, word = '', value = ''] = /^\s*([A-Za-z-]+)\s*:\s*(.*?)\s*(?:#.*)?$/.exec(line) ?? [];
      const key = word.toLowerCase();
      if (key === 'sitemap' && value !== '') sitemaps.push(value);
      else if (key === 'user-agent') {
        if (!isNaming) agents = [];
        isNaming = true;
        agents.push(value.toLowerCase());
        for (const agent of agents) if (!rulesByAgent.has(agent)) rulesByAgent.set(agent, []);
      } else if (key === 'allow' || key === 'disallow') {
        isNaming = false;
        if (value === '') continue;
        const rule = ruleOf(value, key === 'allow');
        for (const agent of agents) rulesByAgent.get(agent)?.push(rule);
      }
    }
    return new Robots(rulesByAgent.get(OWN_AGENT) ?? rulesByAgent.get('*') ?? [], sitemaps);
  }

  /** The longest rule that fits decides, and of equal ones the one that allows. */
  allows({ pathname, search }: URL): boolean {
    const path = normalized(pathname + search);
    let decisive: Rule | null = null;
    for (const rule of this.#rules) {
      if (!fits(rule, path)) continue;
      const isLonger = decisive === null || rule.path.length > decisive.path.length;
      if (isLonger || (rule.isAllowed && rule.path.length === decisive?.path.length)) decisive = rule;
    }
    return decisive?.isAllowed ?? true;
  }
}

function ruleOf(path: string, isAllowed: boolean): Rule {
  const isWhole = path.endsWith('$');
  return { isAllowed, path, isWhole, parts: normalized(isWhole ? path.slice(0, -1) : path).split('*') };
}

/** Linear: each part is searched once, from the left. */
function fits({ parts, isWhole }: Rule, path: string): boolean {
  const [first = '', ...others] = parts;
  if (!path.startsWith(first)) return false;
  const last = isWhole ? others.pop() : undefined;
  let at = first.length;
  for (const part of others) {
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  if (!isWhole) return true;
  return last === undefined ? at === path.length : path.length - last.length >= at && path.endsWith(last);
}

/** Percent-encodings decoded where that changes no meaning, and else in upper case. */
function normalized(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (text) => {
    const character = String.fromCharCode(Number.parseInt(text.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : text.toUpperCase();
  });
}

const NO_FOLLOW = /(?:^|[\s,])(?:nofollow|none)(?:$|[\s,])/i;

export function saysNoFollow(directives: string): boolean {
  return NO_FOLLOW.test(directives);
}
