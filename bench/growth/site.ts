import { archiveOrder, type PackEntry, packBundle } from '../../src/archive/pack.ts';
import { Random } from '../search/random.ts';

/** Pages of about 9 KB, like those of a documentation site: links around four sections with one passage each. */
const SECTIONS = 4;
const WORDS_A_SECTION = 130;
const NEIGHBOURS = 40;
const LINKS = 6;
const PAGES_A_FOLDER = 100;
/** Size of the vocabulary. A word of rank n has a frequency of about 1/n. */
const VOCABULARY = 30_000;
const SYLLABLES = 'ba co di fu ga ho ji ku la me ni po qua re si tu va wo xe zy'.split(' ');
/** Share of pages with other words in the second version. */
const CHANGED_PART = 0.05;

export type Version = 1 | 2;

export const READ_PAGE = '/';

/** Returns the same bytes for the same pages and version. */
export async function packSite(pages: number, version: Version, to: string): Promise<void> {
  await packBundle({ entries: pagesOf(pages, version), to, level: 1 });
}

/** Returns one page at a time in the order of an archive, so that memory stays constant. */
export function* pagesOf(pages: number, version: Version): Generator<PackEntry & { readonly bytes: Buffer }> {
  const paths = Array.from({ length: pages }, (_, at) => pathOf(at));
  const inOrder = paths.map((path, at) => ({ path, at })).sort(archiveOrder);
  const stride = Math.round(1 / CHANGED_PART);
  for (const { path, at } of inOrder) {
    const isOther = version === 2 && at % stride === stride - 1;
    const seed = 2 * at + (isOther ? 1 : 0);
    yield { path, bytes: Buffer.from(pageOf(at, paths, new Random(seed))) };
  }
}

function pathOf(at: number): string {
  return at === 0 ? 'index.html' : `part-${Math.floor(at / PAGES_A_FOLDER)}/page-${at}.html`;
}

function pageOf(at: number, paths: readonly string[], random: Random): string {
  const words = (count: number): string => Array.from({ length: count }, () => wordOf(random)).join(' ');
  const first = at - (at % PAGES_A_FOLDER);
  const navigation = paths
    .slice(first, first + NEIGHBOURS)
    .map((path) => `<li class="nav-item"><a class="nav-link" href="/${path}">${path}</a></li>`);
  const sections = Array.from({ length: SECTIONS }, (_, section) => {
    const links = Array.from({ length: LINKS }, () => `<a href="/${random.oneOf(paths)}">${words(3)}</a>`);
    const code = `<pre><code>${words(2)}.${words(1)}(${words(2)})</code></pre>`;
    const heading = words(4);
    const text = words(WORDS_A_SECTION);
    return `<h2 id="s${section}">${heading}</h2>\n<p>${text}. ${links.join(', ')}.</p>\n${code}`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${words(4)}</title></head>
<body><nav><ul>
${navigation.join('\n')}
</ul></nav>
<main><h1>${words(5)}</h1>
${sections.join('\n')}
</main></body></html>
`;
}

function wordOf(random: Random): string {
  let rank = Math.floor(VOCABULARY ** (random.below(1_000_000) / 1_000_000));
  let word = '';
  for (rank += SYLLABLES.length; rank > 0; rank = Math.floor(rank / SYLLABLES.length))
    word += SYLLABLES[rank % SYLLABLES.length];
  return word;
}
