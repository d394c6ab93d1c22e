/** Looks up names on demand, because a name takes 8 µs, and most sites have one language. @param shownIn BCP 47 */
export function languageNames(shownIn: string): (tag: string) => string {
  const names = new Intl.DisplayNames(shownIn, { type: 'language' });
  const known = new Map<string, string>();
  return (tag) => {
    const name = known.get(tag) ?? nameOf(tag, names);
    known.set(tag, name);
    return name;
  };
}

/** Removes extensions and private use (`de-x-house`), because they have no names and make `of` throw. */
function nameOf(tag: string, names: Intl.DisplayNames): string {
  try {
    return names.of(new Intl.Locale(tag).baseName) ?? tag;
  } catch {
    return tag;
  }
}
