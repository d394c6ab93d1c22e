const keyOf = ({ site, path }) => `${site?.domain ?? ''} ${path}`;
const pageOf = ({ site, path }) => `${site?.domain ?? ''} ${path.replace(/#.*/s, '')}`;

/** Orders pages by their best section. @returns {{key: string, results: object[]}[]} */
export function groupByPage(results) {
  const groups = new Map();
  for (const result of results) {
    const key = pageOf(result);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(result);
  }
  return [...groups].map(([key, sections]) => ({ key, results: sections }));
}

/** Keeps the shown results in place and adds new ones below, because the reader can be pointing at one. */
export function joinBelow(groups, results) {
  const shown = new Set(groups.flatMap((group) => group.results.map(keyOf)));
  return [...groups, ...groupByPage(results.filter((result) => !shown.has(keyOf(result))))];
}
