/** A file with more is no list of links. */
const LINKS_MAX = 50_000;
const LINK = /\]\(\s*<?([^\s<>()]+(?:\([^\s<>()]*\)[^\s<>()]*)*)>?(?:\s+"[^"]*")?\s*\)/g;

/** The addresses that a `llms.txt` links to (llmstxt.org), as written. */
export function llmsLinks(markdown: string): string[] {
  const links: string[] = [];
  for (const [, url = ''] of markdown.matchAll(LINK)) {
    links.push(url);
    if (links.length === LINKS_MAX) break;
  }
  return links;
}
