const KEPT_MAX = 6;
/** Address of this script. The storage key contains its path, because all sites of a host share the storage. */
const here = import.meta.url;
const KEY = `docshelf-search ${new URL('../../..', here).pathname}`;

/** Previous searches of this browser. Empty if it stores nothing. @returns {string[]} newest first */
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
