import { sentencesOf } from './prose.ts';

/** A group of the word list: its pattern, and the advice that the linter prints. */
interface Rule {
  readonly group: keyof typeof GROUPS;
  readonly pattern: RegExp;
  readonly use: string;
}

export const GROUPS = {
  clause: 'clauses as nouns',
  where: '"where" for if',
  tell: 'told/tells/says',
  verb: 'private verbs',
  adverb: 'old adverbs',
  subject: 'inverted or negative subjects',
} as const;
export type Group = keyof typeof GROUPS;

/** Patterns for a single sentence. They are narrow: a word that is often right is not in the list. */
const RULES: readonly Rule[] = [
  {
    group: 'clause',
    pattern: /\bwhat (?:is|was|are|were|has|have|had|cannot|stands|comes|goes)\b(?! (?:new|wrong|inside)\b)(?!.*\?$)/gi,
    use: 'a noun',
  },
  {
    group: 'clause',
    pattern: /\b(?:whoever|the ones? that|the ones? who|those that|those who|that which)\b/gi,
    use: 'a noun',
  },
  { group: 'clause', pattern: /^who\b(?=.*\.$)|\b(?:to|for|of|by|from) who\b/gi, use: 'a noun' },
  // Match at the start of a sentence, unless it is a question, and before words that do not follow a place.
  { group: 'where', pattern: /^where\b(?= \w)(?! to\b)(?!.*\?$)/gi, use: 'if or when' },
  { group: 'where', pattern: /[;:] where\b(?! to\b)/gi, use: 'if or when' },
  {
    group: 'where',
    pattern: /\b(?:(?:also|only|but|except) where|where (?:there|none|no|nothing|nobody|not)\b)/gi,
    use: 'if or when',
  },
  { group: 'tell', pattern: /\b(?:tells|told|says|said)\b/gi, use: 'report, log, show or list' },
  { group: 'verb', pattern: /\b(?:take|takes|took|taken|taking) in\b/gi, use: 'import' },
  { group: 'verb', pattern: /\b(?:answers|answered|answering)\b/gi, use: 'serve, return or respond with' },
  {
    group: 'verb',
    pattern: /\b(?:gives|gave)\b(?! (?:up|access|no access)\b)/gi,
    use: 'serve, return or respond with',
  },
  { group: 'verb', pattern: /\b(?:holds?|held)\b/gi, use: 'contain, store, have or apply' },
  { group: 'verb', pattern: /\b(?:stands?|stood)\b(?!-| for\b)/gi, use: 'is, or a normal verb' },
  { group: 'verb', pattern: /\b(?:lies|lie)\b/gi, use: 'is, or contain' },
  {
    group: 'verb',
    pattern: /\b(?:leads?|led) (?:on|to|there|elsewhere|nowhere)\b/gi,
    use: 'redirect, link or resolve',
  },
  { group: 'verb', pattern: /\b(?:leave|leaves|left|leaving) aside\b/gi, use: 'discard or ignore' },
  {
    group: 'verb',
    pattern: /\b(?:asks|asked)\b(?! (?:for|questions|them|you|readers|users|browsers|to)\b)/gi,
    use: 'request, call or contact',
  },
  { group: 'verb', pattern: /\bmade anew\b/gi, use: 'create, build or generate' },
  { group: 'verb', pattern: /(?<!\bconnection )\brefus(?:e|es|ed|al|als)\b/gi, use: 'reject' },
  { group: 'verb', pattern: /\bfaults?\b/gi, use: 'error or failure' },
  { group: 'verb', pattern: /\b(?:mend|mends|mended)\b/gi, use: 'fix' },
  { group: 'verb', pattern: /\b(?:(?:go|goes|went) on|(?:come|comes) again)\b/gi, use: 'retry, resume or continue' },
  {
    group: 'verb',
    pattern: /\b(?:that there (?:is|are)\b|(?:is|are) there(?=[.,;:]))/gi,
    use: 'exists or is present',
  },
  { group: 'verb', pattern: /\bbelow (?:it|its|their|another path|the (?:base )?path)\b/gi, use: 'under' },
  { group: 'adverb', pattern: /\b(?:anew|likewise|save for|beside)\b/gi, use: 'again, also, except or next to' },
  { group: 'adverb', pattern: /\bbesides\b|\bmeanwhile\b|(?<![</])\baside\b/gi, use: 'also, while or except' },
  { group: 'adverb', pattern: /\bin place of\b/gi, use: 'instead of' },
  { group: 'adverb', pattern: /, too(?=[.,;:)]|$)/gi, use: 'also' },
  { group: 'subject', pattern: /^of\b(?! course\b)/gi, use: 'the normal order: subject, verb, object' },
  { group: 'subject', pattern: /^(?:nothing|nobody|none)\b(?=\s+\w)(?! found\b)/gi, use: 'a subject that exists' },
  {
    group: 'subject',
    pattern: /\bof (?:yours|ours|(?:its|their|one's) own(?=$|[.,;:)]| (?:and|or|that|which|in|on|at|with|to|for)\b))/gi,
    use: 'your or its',
  },
];

export interface Finding {
  readonly group: Group;
  readonly words: string;
  readonly use: string;
}

/** Matches of the word list in a text without markup. */
export function findWords(text: string): Finding[] {
  return sentencesOf(text).flatMap((sentence) =>
    RULES.flatMap(({ group, pattern, use }) =>
      Array.from(sentence.matchAll(pattern), ([words]) => ({ group, words: words.replace(/^[;:,] /, ''), use })),
    ),
  );
}

/** True if a comment begins without its noun, as in "Of a sentence." */
export const isHeadless = (comment: string): boolean =>
  /^(?:Of|Those|That of|What|Whoever|Where|The ones?|As|By|Until|Also|Else)\b/.test(comment);
