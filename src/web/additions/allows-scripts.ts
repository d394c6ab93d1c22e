/** That hold for scripts of files, the first that a policy has (Content Security Policy 3, section 6.8.1). */
const DIRECTIVES = ['script-src-elem', 'script-src', 'default-src'];

/**
 * False where a page's policies let no script of its own site run that they do not name one by one, by a nonce or a hash. A host may be
 * the site's own, so that counts as allowed.
 *
 * @param policies as in `Content-Security-Policy`: all of them have to agree
 */
export function allowsOwnScripts(policies: string): boolean {
  return policies.split(',').every((policy) => {
    const directives = new Map<string, readonly string[]>();
    for (const directive of policy.split(';')) {
      const [name, ...sources] = directive.trim().toLowerCase().split(/\s+/);
      if (name !== undefined && !directives.has(name)) directives.set(name, sources);
    }
    const sources = DIRECTIVES.map((name) => directives.get(name)).find((each) => each !== undefined);
    if (sources === undefined) return true;
    // With it hosts and 'self' count for nothing.
    if (sources.includes("'strict-dynamic'")) return false;
    return sources.some((source) => source === "'self'" || !source.startsWith("'"));
  });
}
