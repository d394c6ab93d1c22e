/** A language's tag (BCP 47) in its one spelling, `pt-br` and `pt_BR` both `pt-BR`; null for what is none. */
export function languageTag(written: string): string | null {
  // Intl knows the rules, and throws a RangeError for what breaks them.
  try {
    return Intl.getCanonicalLocales(written.replaceAll('_', '-'))[0] ?? null;
  } catch {
    return null;
  }
}
