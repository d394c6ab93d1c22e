import { type HeaderRules, parseHeaders } from './header-rules.ts';
import { parseRedirects, type RedirectRules } from './redirects.ts';
import { RULE_FILE_BYTES_MAX, type RuleFault } from './rule-file.ts';

export { type HeaderRules, NO_HEADERS, type SiteHeaders } from './header-rules.ts';
export { withoutSlash } from './path-pattern.ts';
export { isAt } from './redirect-target.ts';
export type { MatchedRule, RedirectRules } from './redirects.ts';
export { RULE_FILE_BYTES_MAX, RULE_FILES, type RuleFault } from './rule-file.ts';

/** What a site says of how it is served (contract, section 9.1). */
export interface SiteRules {
  readonly redirects: RedirectRules;
  readonly headers: HeaderRules;
  /** What was not understood; of each file the first. */
  readonly faults: readonly RuleFault[];
  readonly faultCount: number;
  /** One sentence each, of the same. */
  readonly notices: readonly string[];
}

/** Of one file; the rest is summed up. */
const FAULTS_TOLD_MAX = 10;
/** A file may have half a million bad lines, and is in memory while its site is served. */
const FAULTS_KEPT_MAX = 200;

export const NO_RULES: SiteRules = readSiteRules(new Map());

/** @param files bytes by path, of those that are there; null: over the limit */
export function readSiteRules(files: ReadonlyMap<string, Uint8Array | null>): SiteRules {
  const tooLarge: RuleFault[] = [];
  const text = (file: RuleFault['file']): string => {
    const bytes = files.get(file);
    if (bytes === undefined) return '';
    if (bytes !== null && bytes.length <= RULE_FILE_BYTES_MAX) return new TextDecoder().decode(bytes);
    const reason = `is over ${RULE_FILE_BYTES_MAX / 1024 ** 2} MiB; none of its rules holds`;
    tooLarge.push({ file, line: null, reason });
    return '';
  };
  const redirects = parseRedirects(text('_redirects'));
  const headers = parseHeaders(text('_headers'));
  const all = [tooLarge, redirects.faults, headers.faults];
  return {
    redirects: redirects.rules,
    headers: headers.rules,
    faults: all.flatMap((faults) => faults.slice(0, FAULTS_KEPT_MAX).map(shortened)),
    faultCount: all.reduce((sum, { length }) => sum + length, 0),
    notices: all.flatMap(told),
  };
}

function told(faults: readonly RuleFault[]): string[] {
  const sentences = faults.slice(0, FAULTS_TOLD_MAX).map(shortened).map(sentenceOf);
  const more = faults.length - sentences.length;
  if (more > 0) sentences.push(`${faults[0]?.file} of the bundle has ${more} more such lines.`);
  return sentences;
}

function sentenceOf({ file, line, reason }: RuleFault): string {
  return line === null
    ? `${file} of the bundle ${reason}.`
    : `${file} of the bundle, line ${line}, ${reason}; it is left out.`;
}

function shortened({ reason, ...fault }: RuleFault): RuleFault {
  return { ...fault, reason: reason.length > 300 ? `${reason.slice(0, 300)}…` : reason };
}
