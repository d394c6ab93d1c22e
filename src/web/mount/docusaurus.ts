import type { Edit } from '../rewrite/write.ts';
import { type MountSource, rebaseMatches } from './edits.ts';

/** Webpack's public path, `n.p="/"`. */
const PUBLIC_PATH = /\b[\w$]+\.p\s*=\s*"(?<url>\/[^"\\]*)"/dg;

export function webpackPublicPath(source: MountSource): Iterable<Edit> {
  return rebaseMatches(PUBLIC_PATH, source);
}

/**
 * Docusaurus writes addresses with `baseUrl` into routes, sidebars and the metadata of pages, and compares them with the
 * address. Names of chunks (`"/docs/intro-0ab"`) and slugs have none. Links that lack it get it when they are shown.
 */
const ROUTE = /\bpath:"(?<url>\/[^"\\]*)",component:/dg;
const DATA =
  /(?<=[{,])\\?"?(?:baseUrl|permalink|href|path|allTagsPath|tagsPath|blogBasePath|authorsListPath)\\?"?:\s*\\?"(?<url>\/(?!\/)[^"\\]*)\\?"(?!,url:)/dg;

export function* docusaurusData(source: MountSource): Generator<Edit> {
  yield* rebaseMatches(ROUTE, source);
  yield* rebaseMatches(DATA, source);
}
