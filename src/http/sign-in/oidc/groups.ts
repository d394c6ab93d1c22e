/** Those of a claim that may read. A claim is a list, or one name. */
export function allowedOf(claim: unknown, allowed: readonly string[]): readonly string[] {
  const said = Array.isArray(claim) ? claim : [claim];
  return allowed.filter((group) => said.includes(group));
}
