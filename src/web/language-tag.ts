/** Canonical BCP 47 tag, `pt-BR` for `pt-br` and `pt_BR`. Null for an invalid tag. */
export function languageTag(written: string): string | null {
  try {
    return Intl.getCanonicalLocales(written.replaceAll('_', '-'))[0] ?? null;
  } catch {
    return null;
  }
}
