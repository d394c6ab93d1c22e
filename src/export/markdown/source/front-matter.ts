import { parse, YAMLParseError } from 'yaml';
import { DocshelfError } from '../../../domain/errors.ts';
import { languageTag } from '../../../web/language-tag.ts';

/** The fields of a page's front matter, null where they are left out. Unknown keys are ignored. */
export type FrontMatter = ReturnType<typeof readFrontMatter>['matter'];

const FENCED = /^---[ \t]*\n((?:[\s\S]*?\n)?)(?:---|\.\.\.)[ \t]*(?:\n|$)/;
/** UTF-16 code units; a page's facts are a few lines. */
const MATTER_LENGTH_MAX = 64 * 1024;
const TRUE_WORDS = /^(?:true|yes|on)$/i;
const FALSE_WORDS = /^(?:false|no|off|)$/i;

/** Without a closing `---` there is none. @param text as `decodeText` gives it. @throws DocshelfError `bad_source` */
export function readFrontMatter(path: string, text: string) {
  const fenced = FENCED.exec(text);
  const yaml = fenced?.[1] ?? '';
  if (yaml.length > MATTER_LENGTH_MAX) throw fault(path, 1, `it is longer than ${MATTER_LENGTH_MAX} characters`);
  const says = parseYaml(path, yaml);
  const faultOf = (key: string, state: string) => fault(path, lineOf(yaml, key), `"${key}" ${state}`);
  const textOf = (key: string): string | null => {
    const value = Object.hasOwn(says, key) ? says[key] : undefined;
    if (value === undefined) return null;
    if (typeof value !== 'string') throw faultOf(key, 'is no text');
    return value.trim().replace(/\s+/g, ' ') || null;
  };
  const flagOf = (key: string): boolean => {
    const word = textOf(key) ?? '';
    if (TRUE_WORDS.test(word)) return true;
    if (FALSE_WORDS.test(word)) return false;
    throw faultOf(key, 'is neither true nor false');
  };
  const order = textOf('order');
  if (order !== null && !Number.isFinite(Number(order))) throw faultOf('order', 'is no number');
  const languageKey = Object.hasOwn(says, 'language') ? 'language' : 'lang';
  const written = textOf(languageKey);
  const language = written === null ? null : languageTag(written);
  if (written !== null && language === null) throw faultOf(languageKey, 'is no language tag like fr or pt-BR');
  // `keywords` is what others call tags: a list, or words parted by commas.
  const tagsKey = Object.hasOwn(says, 'tags') ? 'tags' : 'keywords';
  const listed = says[tagsKey];
  const tags: readonly unknown[] = Array.isArray(listed) ? listed : (textOf(tagsKey) ?? '').split(',');
  if (!tags.every((tag) => typeof tag === 'string')) throw faultOf(tagsKey, 'is no list of words');
  return {
    matter: {
      title: textOf('title'),
      sidebarTitle: textOf('sidebarTitle'),
      description: textOf('description'),
      tags: [...new Set(tags.map((tag) => tag.trim().replaceAll(',', ' ')).filter((tag) => tag !== ''))],
      version: textOf('version'),
      language,
      order: order === null ? null : Number(order),
      /** The first version of the documentation that has this page. */
      since: textOf('since'),
      isDraft: flagOf('draft'),
      isHidden: flagOf('hidden'),
      isNoindex: flagOf('noindex'),
    },
    body: text.slice(fenced?.[0].length ?? 0),
  };
}

/** Every scalar as the text that was written: the version `1.10` is no number here. */
function parseYaml(path: string, yaml: string): Readonly<Record<string, unknown>> {
  if (yaml.trim() === '') return {};
  let says: unknown;
  try {
    says = parse(yaml, { schema: 'failsafe', logLevel: 'error' });
  } catch (error) {
    const line = error instanceof YAMLParseError ? (error.linePos?.[0].line ?? 1) : 1;
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    throw fault(path, line, reason.replace(/ at line \d+, column \d+:?$/, ''), error);
  }
  if (typeof says === 'string' && says.trim() === '') return {};
  if (typeof says === 'object' && says !== null && !Array.isArray(says)) return says as Record<string, unknown>;
  throw fault(path, 1, 'it is no list of keys and values');
}

function lineOf(yaml: string, key: string): number {
  return yaml.split('\n').findIndex((line) => line.replace(/^["']/, '').startsWith(key)) + 1 || 1;
}

/** @param line inside the front matter; the file has `---` before it */
function fault(path: string, line: number, state: string, cause?: unknown): DocshelfError {
  return new DocshelfError('bad_source', `Cannot read the front matter of "${path}", line ${line + 1}: ${state}`, {
    next: 'Front matter is YAML between two lines of ---; put a text with a colon in it into quotes.',
    fields: { path, line: line + 1 },
    cause,
  });
}
