import type { Edit } from '../rewrite/write.ts';
import { leadsIntoSite, type MountSource, rebaseMatches } from './edits.ts';

/** A whole string that is an address from the root, ends like a file's, and is not compared with another. */
const LITERAL =
  /(?<!(?:\.(?:endsWith|startsWith|includes|indexOf|lastIndexOf|replace|replaceAll|split|match)\(|[=!]==?)\s*\\?["'`])(?<=(?<quote>\\?["'`]))(?<url>\/[\w.~%@+-][\w.~%@+/-]{0,200}\.\w{2,11}(?:[?#][\w=&.%-]{0,100})?)(?=\k<quote>)/dg;

/** Strings of a script that name a file of the site: a search index, a picture. */
export function fileLiterals(source: MountSource): Iterable<Edit> {
  return rebaseMatches(LITERAL, source, (url) => leadsIntoSite(url, source.site));
}

/** What takes the start of an address from the root, whatever follows it. */
const SINK =
  /(?:\b(?:fetch|importScripts|Worker|Audio|open|location\.(?:assign|replace))\s*\(|\.open\s*\(\s*["'](?:GET|HEAD)["']\s*,|\.(?:src|href)\s*=|\blocation\s*=)\s*["'`](?<url>\/(?![/\\*])[^"'`\s<>]{0,300})/dg;

/** What a script loads or goes to, also where the rest of the address is put together. */
export function sinks(source: MountSource): Iterable<Edit> {
  return rebaseMatches(SINK, source);
}

/** Places of the scripts in a page. */
function* scriptSpans(html: string): Generator<readonly [start: number, end: number]> {
  const opening = /<script\b[^<>]*>/gi;
  const closing = /<\/script/gi;
  for (let match = opening.exec(html); match !== null; match = opening.exec(html)) {
    closing.lastIndex = opening.lastIndex;
    const end = closing.exec(html)?.index;
    if (end === undefined) return;
    yield [opening.lastIndex, end];
    opening.lastIndex = end;
  }
}

export function inlineScripts(html: string): string[] {
  return Array.from(scriptSpans(html), (span) => html.slice(...span));
}

/** The same for the scripts of a page, and not for the code that it shows. */
export function inScripts(edits: (source: MountSource) => Iterable<Edit>) {
  return function* (source: MountSource): Generator<Edit> {
    for (const [start, end] of scriptSpans(source.text)) {
      for (const edit of edits({ ...source, text: source.text.slice(start, end) })) {
        yield { ...edit, start: edit.start + start, end: edit.end + start };
      }
    }
  };
}
