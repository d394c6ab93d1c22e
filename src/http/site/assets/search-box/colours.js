/** Detects a dark page from its colors, because a site can have its own switch that overrides the preference of the browser. */
export function isDarkPage() {
  for (const node of [document.body, document.documentElement]) {
    const [red, green, blue, alpha = 1] = (/^rgba?\((.*)\)$/.exec(getComputedStyle(node).backgroundColor)?.[1] ?? '')
      .split(/[\s,/]+/)
      .map(Number);
    if (alpha > 0.5 && blue !== undefined) return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
  }
  return (
    matchMedia('(prefers-color-scheme: dark)').matches &&
    getComputedStyle(document.documentElement).colorScheme.includes('dark')
  );
}
