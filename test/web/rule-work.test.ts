import { describe, expect, it, vi } from 'vitest';
import { type MatchedRule, readSiteRules, type SiteRules, Work } from '../../src/web/rules/index.ts';
import { PathPattern } from '../../src/web/rules/path-pattern.ts';
import { REQUEST_UNITS } from '../../src/web/rules/rule-file.ts';
import { SeededRandom, seedOfEnvironment } from '../helpers/random.ts';
import { cases } from '../helpers/runs.ts';

/** Limits of the rules of a bundle. */
const RULES_MAX = 10_000;
const FILE_CHARS_MAX = 1024 ** 2;
const LINE_CHARS_MAX = 8192;
/** Units of one more step, until the limit is noticed. */
const OVERSHOOT = 20_000;

const rulesOf = (redirects: string, headers = ''): SiteRules =>
  readSiteRules(
    new Map([
      ['_redirects', Buffer.from(redirects)],
      ['_headers', Buffer.from(headers)],
    ]),
  );

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');

/** All lookups of a request: matches, paths and locations. */
function useRules({ redirects, headers }: SiteRules, path: string): { work: Work; tried: MatchedRule[] } {
  const work = new Work();
  const tried = [...redirects.forced(path, work), ...redirects.others(path, work)];
  for (const { rule, captures } of tried) {
    expect(rule.target.pathOf(captures)?.length ?? 0).toBeLessThanOrEqual(LINE_CHARS_MAX);
    expect(rule.target.location(captures, '?a=b', (at) => at)?.length ?? 0).toBeLessThanOrEqual(LINE_CHARS_MAX);
  }
  expect(work.spent).toBeLessThanOrEqual(REQUEST_UNITS + OVERSHOOT);
  const headerWork = new Work();
  const chars = [...headers.headersFor(path, headerWork).set].reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    0,
  );
  expect(chars).toBeLessThanOrEqual(LINE_CHARS_MAX);
  expect(headerWork.spent).toBeLessThanOrEqual(REQUEST_UNITS + OVERSHOOT);
  return { work, tried };
}

/** Number of steps of a lookup. */
function stepsOf(act: () => void): number {
  const spies = [
    vi.spyOn(String.prototype, 'startsWith'),
    vi.spyOn(String.prototype, 'endsWith'),
    vi.spyOn(String.prototype, 'slice'),
    vi.spyOn(PathPattern.prototype, 'captures'),
  ];
  try {
    act();
    return spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

describe('request to a site with 10,000 rules', () => {
  it.each<[rules: string, text: string, path: string]>([
    ['placeholders', lines(RULES_MAX, (n) => `/:a/:b/:c/${n}/* /:a`), '/x/y/z/w/v'],
    ['placeholders and a name', lines(RULES_MAX, (n) => `/:a/x${n}/:b /:a`), '/x/y/z'],
    ['placeholders of which one matches', lines(RULES_MAX, (n) => `/:a/${n}/:b /:b`), '/x/9999/z'],
    ['prefixes', lines(RULES_MAX, (n) => `/docs/old${n}* /x`), '/docs/old77/x'],
    ['suffixes', lines(RULES_MAX, (n) => `/*${'a'.repeat(30)}${n} /x`), `/${'a'.repeat(4000)}`],
    ['whole paths', lines(RULES_MAX, (n) => `/old/page${n} /new/page${n}`), '/old/page500'],
  ])('needs few string operations with rules of %s', (_, text, path) => {
    const rules = rulesOf(text, text.replaceAll(/ \/.*/g, '\n  X-Robots-Tag: a'));
    expect(rules.notices).toEqual([]);
    const steps = stepsOf(() => {
      expect([...rules.redirects.others(path)].length).toBeLessThanOrEqual(2);
      rules.headers.headersFor(path);
    });
    expect(steps).toBeLessThan(500);
    expect(useRules(rules, path).work.spent).toBeLessThan(10_000);
  });

  const masks = (n: number): string =>
    Array.from({ length: 13 }, (_, at) => ((n >> at) & 1 ? 'a' : `:p${at}`)).join('/');
  it.each<[rules: string, text: string, path: string]>([
    ['placeholders in every order', lines(8192, (n) => `/${masks(n)}${'/a'.repeat(15)}/z /x`), '/a'.repeat(40)],
    ['many prefixes of one path', lines(1400, (n) => `/${'a'.repeat(n)}* /gone 200`), `/${'a'.repeat(4000)}`],
    ['many suffixes of one path', lines(1400, (n) => `/*${'a'.repeat(n)} /gone 200`), `/${'a'.repeat(4000)}`],
    ['one path', lines(RULES_MAX, (n) => `/* /gone${n} 200`), '/a'],
    ['long targets', lines(120, () => `/* /${':splat'.repeat(1300)} 200`), `/${'é'.repeat(4000)}`],
    ['long queries', lines(120, () => `/* /?${':splat'.repeat(1300)}`), `/${'a'.repeat(2000)}`],
    [
      'hundreds of placeholders',
      lines(120, () => `/${':a/'.repeat(2000)}* /${':a/'.repeat(2000)} 200`),
      '/a'.repeat(2040),
    ],
  ])('stays within the work limit of one request with rules of %s', (_, text, path) => {
    const rules = rulesOf(text, text.replaceAll(/ \/.*/g, `\n  X-Robots-Tag: ${'a'.repeat(30)}`));
    const steps = stepsOf(() => useRules(rules, path));
    expect(steps).toBeLessThan(60_000);
  });

  it('applies the same rules as a check of each rule in turn', { timeout: 600_000 }, () => {
    const seed = seedOfEnvironment() ?? 1;
    for (let run = 0; run < cases(12); run++) {
      const random = new SeededRandom(seed * 1_000_003 + run);
      const text = randomRules(random, run % 3 === 0 ? RULES_MAX : 300);
      const rules = rulesOf(text, text.replaceAll(/ \/.*/g, `\n  X-Robots-Tag: ${'a'.repeat(20)}`));
      const patterns = patternsOf(text);
      for (let request = 0; request < 40; request++) {
        const path = randomPath(random);
        const { work, tried } = useRules(rules, path);
        const bare = path.replace(/(.)\/$/, '$1');
        const expected = patterns.filter(({ match }) => match.test(bare));
        const inOrder = [true, false].flatMap((isForced) => expected.filter((each) => each.isForced === isForced));
        const targets = inOrder.map(({ target }) => target);
        // The limit ends the attempts. A real request needs few.
        expect(tried.length).toBeGreaterThanOrEqual(
          Math.min(targets.length, work.isSpent ? 20 : Number.POSITIVE_INFINITY),
        );
        const found = tried.map(({ rule }) => rule.target.location(new Map(), '', (at) => at));
        expect(found, `${path} of seed ${seed}, run ${run}`).toEqual(targets.slice(0, found.length));
      }
    }
  });
});

const NAMES = ['a', 'b', 'aa', 'ab', 'docs', 'x.html', 'é', 'v1', '*x'];

function randomRules(random: SeededRandom, count: number): string {
  let text = '';
  for (let at = 0; at < count && text.length < FILE_CHARS_MAX - 200; at++) {
    const segments = Array.from({ length: Math.floor(random.next() * 6) }, () =>
      random.next() < 0.4 ? `:n${Math.floor(random.next() * 3)}` : random.pick(NAMES.slice(0, -1)),
    );
    const path = `/${segments.join('/')}`;
    const isPlain = !path.includes(':');
    const star = random.pick(['', '', '/*', ...(isPlain ? ['*', '*b', '*/a', '/*.html'] : [])]);
    text += `${(path + star).replace('//', '/')} /to${at} ${random.pick(['301', '302!', '308'])}\n`;
  }
  return text;
}

function randomPath(random: SeededRandom): string {
  const count = random.next() < 0.1 ? 400 : Math.floor(random.next() * 7);
  const path = `/${Array.from({ length: count }, () => random.pick(NAMES)).join('/')}`;
  return random.next() < 0.3 && path !== '/' ? `${path}/` : path;
}

/** Rules as regular expressions, read without the tested code. */
function patternsOf(text: string): { match: RegExp; target: string; isForced: boolean }[] {
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [from = '', target = '', status = ''] = line.split(' ');
      const escaped = from
        .replaceAll(/[.]/g, '\\.')
        .replaceAll(/:\w+/g, '[^/]+')
        .replace(/^\/\*$/, '/.*')
        .replace(/\/\*$/, '(?:/.*)?')
        .replace(/(?<!\.)\*(?!\))/, '.*');
      return { match: new RegExp(`^${escaped}$`, 'su'), target, isForced: status.endsWith('!') };
    });
}
