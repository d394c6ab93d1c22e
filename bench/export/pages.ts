import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Random } from '../search/random.ts';

/** Pages that compress like documentation: repeated markup, and varied prose. */

const WORDS =
  'the of a to and in is for that with are this be as on by it or an from at can not will when which if use value page set file name section option returns default request server build release version index search token key bundle deploy config path field type array object string number write read change add remove update install command example following above note see also between into each only other same new first second response header status error message time limit size user group role policy cluster node service network storage volume backup restore schedule queue worker job stream event handler callback function method class module package import export template layout theme style script link image table list item content'.split(
    ' ',
  );

export interface Page {
  readonly path: string;
  readonly file: string;
  readonly size: number;
  readonly sha256: string;
}

/**
 * Writes `count` pages of about 20 KB in sections of 50 to `folder`. Returns them sorted by path. @param seed selects other
 * words
 */
export function writePages(folder: string, count: number, seed = 0): Page[] {
  const pages = Array.from({ length: count }, (_, at) => `section-${Math.floor(at / 50)}/page-${at}.html`);
  return pages
    .map((path, at) => {
      const html = pageOf(at, pages, new Random(seed + at));
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, html);
      return { path, file, size: Buffer.byteLength(html), sha256: hash('sha256', html) };
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function pageOf(at: number, pages: readonly string[], random: Random): string {
  // Mostly common words, like prose: the smaller of two random numbers.
  const word = () => WORDS[Math.min(random.below(WORDS.length), random.below(WORDS.length))];
  const words = (count: number) => Array.from({ length: count }, word).join(' ');
  const section = at - (at % 50);
  const navigation = pages
    .slice(section, section + 50)
    .map((path) => `<li class="nav-item"><a class="nav-link" href="../${path}">${path}</a></li>`);
  const text = Array.from({ length: 12 }, (_, n) => {
    const id = `${word()}-${word()}-${n}`;
    const code = `<pre><code class="language-ts"><span class="k">const</span> ${word()} = <span class="s">'${words(3)}'</span>;</code></pre>`;
    const target = random.oneOf(pages);
    return `<h2 id="${id}">${words(4)}<a class="anchor" href="#${id}" aria-label="Link">#</a></h2>\n<p>${words(90)}. <a href="../${target}">${words(3)}</a>, ${words(60)}.</p>\n${code}`;
  });
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${words(4)}</title><link rel="stylesheet" href="../assets/site-3f9a1c2b.css"><link rel="canonical" href="https://docs.example.com/${pages[at]}"></head>
<body class="docs">
<nav><ul>
${navigation.join('\n')}
</ul></nav>
<main>
<h1>${words(5)}</h1>
${text.join('\n')}
</main>
<footer>Page ${at}</footer>
</body>
</html>
`;
}
