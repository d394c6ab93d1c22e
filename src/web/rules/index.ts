import { type HeaderRules, parseHeaders } from './header-rules.ts';
import { parseRedirects, type RedirectRules } from './redirects.ts';
import { type FaultList, RULE_FILE_BYTES_MAX, type RuleFault } from './rule-file.ts';

export type { HeaderRules, SiteHeaders } from './header-rules.ts';
export { withoutSlash } from './path-pattern.ts';
export { isAt, type MatchedRule, REDIRECTS_MAX, type RedirectRules, type RedirectTarget } from './redirects.ts';
export { RULE_FILE_BYTES_MAX, RULE_FILES, type RuleFault, Work } from './rule-file.ts';

export interface SiteRules {
  readonly redirects: RedirectRules;
  readonly headers: HeaderRules;
  readonly faults: readonly RuleFault[];
  readonly faultCount: number;
  readonly notices: readonly string[];
}

/** Maximum number of notices of each kind that docshelf stores for a version. */
export const NOTICES_MAX = 10;

export const NO_RULES: SiteRules = readSiteRules(new Map());

/** Reads the rules of a site. @param files bytes of the rule files that exist, by path; null for a file over the limit */
export function readSiteRules(files: ReadonlyMap<string, Uint8Array | null>): SiteRules {
  const text = (file: RuleFault['file']): string | null => {
    const bytes = files.get(file);
    if (bytes === undefined) return '';
    return bytes === null || bytes.length > RULE_FILE_BYTES_MAX ? null : new TextDecoder().decode(bytes);
  };
  const [redirectsText, headersText] = [text('_redirects'), text('_headers')];
  const redirects = parseRedirects(redirectsText ?? '');
  const headers = parseHeaders(headersText ?? '');
  if (redirectsText === null) addTooLarge(redirects.faults);
  if (headersText === null) addTooLarge(headers.faults);
  const all = [redirects.faults, headers.faults];
  return {
    redirects: redirects.rules,
    headers: headers.rules,
    faults: all.flatMap(({ kept }) => kept),
    faultCount: all.reduce((sum, { count }) => sum + count, 0),
    notices: all.flatMap(noticesOf),
  };
}

function addTooLarge(faults: FaultList): void {
  faults.add(null, `is over ${RULE_FILE_BYTES_MAX / 1024 ** 2} MiB; docshelf ignores all its rules`);
}

function noticesOf({ kept, count }: FaultList): string[] {
  const sentences = kept.slice(0, NOTICES_MAX).map(sentenceOf);
  const more = count - sentences.length;
  if (more > 0) sentences.push(`${kept[0]?.file} of the bundle has ${more} more invalid lines.`);
  return sentences;
}

function sentenceOf({ file, line, reason, use = 'docshelf ignores it' }: RuleFault): string {
  return line === null ? `${file} of the bundle ${reason}.` : `${file} of the bundle, line ${line}, ${reason}; ${use}.`;
}
