/** A language tag (BCP 47) in its canonical spelling: `pt-BR` for `pt-br` and `pt_BR`. Null for an invalid tag. */
export function languageTag(written: string): string | null {
  // Intl knows the rules, and throws a RangeError for what breaks them.
  try {
    return Intl.getCanonicalLocales(written.replaceAll('_', '-'))[0] ?? null;
  } catch {
    return null;
  }
}
