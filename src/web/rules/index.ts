import { HeaderRules, parseHeaders } from './header-rules.ts';
import { parseRedirects, RedirectRules } from './redirects.ts';
import { RULE_FILE_BYTES_MAX, type RuleFault } from './rule-file.ts';

export { type HeaderRules, NO_HEADERS, type SiteHeaders } from './header-rules.ts';
export { withoutSlash } from './path-pattern.ts';
export { isAt } from './redirect-target.ts';
export type { MatchedRule, RedirectRules } from './redirects.ts';
export { RULE_FILE_BYTES_MAX, RULE_FILES } from './rule-file.ts';

/** What a site says of how it is served (contract, section 9.1). */
export interface SiteRules {
  readonly redirects: RedirectRules;
  readonly headers: HeaderRules;
  /** One sentence each, of what was not understood. */
  readonly notices: readonly string[];
}

export const NO_RULES: SiteRules = { redirects: new RedirectRules([]), headers: new HeaderRules([]), notices: [] };

/** Of one file; the rest is summed up. */
const FAULTS_TOLD_MAX = 10;

/** @param files bytes by path, of those that are there; null: over the limit */
export function readSiteRules(files: ReadonlyMap<string, Uint8Array | null>): SiteRules {
  const notices: string[] = [];
  const text = (file: RuleFault['file']): string => {
    const bytes = files.get(file);
    if (bytes === undefined) return '';
    if (bytes !== null && bytes.length <= RULE_FILE_BYTES_MAX) return new TextDecoder().decode(bytes);
    notices.push(`${file} of the bundle is over ${RULE_FILE_BYTES_MAX / 1024 ** 2} MiB; none of its rules holds.`);
    return '';
  };
  const redirects = parseRedirects(text('_redirects'));
  const headers = parseHeaders(text('_headers'));
  notices.push(...told('_redirects', redirects.faults), ...told('_headers', headers.faults));
  return { redirects: redirects.rules, headers: headers.rules, notices };
}

function told(file: RuleFault['file'], faults: readonly RuleFault[]): string[] {
  const sentences = faults
    .slice(0, FAULTS_TOLD_MAX)
    .map(({ line, reason }) => `${file} of the bundle, line ${line}, ${shortened(reason)}; it is left out.`);
  const more = faults.length - sentences.length;
  if (more > 0) sentences.push(`${file} of the bundle has ${more} more such lines.`);
  return sentences;
}

function shortened(reason: string): string {
  return reason.length > 300 ? `${reason.slice(0, 300)}…` : reason;
}
