import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';

/** The groups of the navigation, in order; a page that names none is reference. */
export const GROUPS = ['Start', 'Guides', 'Reference'] as const;
type Group = (typeof GROUPS)[number];

/** One page of the manual, as its Markdown file says it. */
export interface Page {
  /** The file's name without extension, which is also the page's address: `air-gap`. */
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly group: Group;
  readonly order: number;
  /** The first version that has this page, or null where every version has it. */
  readonly since: string | null;
  /** Markdown, without front matter and without a leading title. */
  readonly body: string;
}

const FRONT_MATTER = /^---\n([\s\S]*?)\n---\n/;
const LEADING_TITLE = /^\s*# (.+)\n/;

function readPage(path: string): Page {
  const text = readFileSync(path, 'utf8');
  const matter = FRONT_MATTER.exec(text);
  const says = (matter === null ? {} : parse(matter[1] ?? '')) as Record<string, unknown>;
  const rest = text.slice(matter?.[0].length ?? 0);
  const slug = basename(path, '.md');
  return {
    slug,
    title: String(says.title ?? LEADING_TITLE.exec(rest)?.[1] ?? slug),
    description: String(says.description ?? ''),
    group: GROUPS.find((group) => group === says.group) ?? 'Reference',
    order: Number(says.order ?? 1),
    since: says.since === undefined ? null : String(says.since),
    body: rest.replace(LEADING_TITLE, ''),
  };
}

/** All pages of the manual, in the order in which a reader goes through them. */
export function readPages(docsDir: string): Page[] {
  return globSync('*.md', { cwd: docsDir })
    .map((name) => readPage(join(docsDir, name)))
    .sort(
      (a, b) => GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group) || a.order - b.order || (a.slug < b.slug ? -1 : 1),
    );
}

/** The pages that a version has. Labels are compared as text, which orders dates. */
export function pagesOfVersion(pages: readonly Page[], version: string): Page[] {
  return pages.filter(({ since }) => since === null || since <= version);
}
