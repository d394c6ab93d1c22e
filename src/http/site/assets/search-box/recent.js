const KEPT_MAX = 6;
/** Sites below one host have one storage. */
const here = import.meta.url;
const KEY = `docshelf-search ${new URL('../../..', here).pathname}`;

/** What was looked for before, in this browser alone; nothing where it keeps nothing. @returns {string[]} the last first */
export function recentSearches() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter((each) => typeof each === 'string').slice(0, KEPT_MAX) : [];
  } catch {
    return [];
  }
}

export function rememberSearch(query) {
  keep([query, ...recentSearches().filter((each) => each !== query)].slice(0, KEPT_MAX));
}

export const forgetSearches = () => keep([]);

function keep(queries) {
  try {
    localStorage.setItem(KEY, JSON.stringify(queries));
  } catch {}
}
