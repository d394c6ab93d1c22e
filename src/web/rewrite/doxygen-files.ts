const SECTIONS = /\bindexSectionsWithContent\s*=\s*\{([^}]*)\}/;
const SECTION_NAMES = /\bindexSectionNames\s*=\s*\{([^}]*)\}/;
const ENTRY = /(\d+)\s*:\s*"((?:[^"\\]|\\.)*)"/g;
const NAVIGATION = /\bNAVTREEINDEX\s*=\s*\[([^\]]*)\]/;
/** An entry of the tree whose children are in a script of their own: title, page, name of the script. */
const BRANCH = /\[\s*(?:"(?:[^"\\]|\\.)*"|null)\s*,\s*(?:"[^"]*"|null)\s*,\s*"([\w.-]+)"\s*\]/g;
const NAME = /^\w+$/;
/** A large library has a few hundred. */
const FILES_MAX = 5_000;

/**
 * Scripts of Doxygen that others of it load by names that they put together: the parts of its search, each of one section
 * and one letter, which `searchdata.js` counts; and the parts of its tree of pages, which `navtreedata.js` counts and names.
 *
 * @returns addresses as the script sees them
 */
export function doxygenFiles(script: string): readonly string[] {
  const isTree = script.includes('NAVTREEINDEX');
  const isBranch = isTree || /^\s*var \w+ =\s*\[\s*\[/.test(script.slice(0, 300));
  const files = [
    ...(script.includes('indexSectionsWithContent') ? searchParts(script) : []),
    ...(isTree ? treeParts(script) : []),
    ...(isBranch ? Array.from(script.matchAll(BRANCH), ([, name]) => `${name}.js`) : []),
  ];
  return files.slice(0, FILES_MAX);
}

function searchParts(script: string): string[] {
  const names = new Map(entriesIn(script, SECTION_NAMES));
  return entriesIn(script, SECTIONS).flatMap(([section, letters]) => {
    const name = names.get(section) ?? '';
    if (!NAME.test(name)) return [];
    const parts = Array.from({ length: Math.min(letters.length, FILES_MAX) }, (_, at) => `${name}_${at.toString(16)}`);
    // Before 1.9.2 a page of results loads the script.
    return parts.flatMap((part) => [`${part}.js`, `${part}.html`]);
  });
}

function entriesIn(script: string, table: RegExp): (readonly [key: string, value: string])[] {
  const rows = table.exec(script)?.[1] ?? '';
  return Array.from(rows.matchAll(ENTRY), ([, key = '', value = '']) => [key, value.replace(/\\(.)/g, '$1')] as const);
}

function treeParts(script: string): string[] {
  const count = NAVIGATION.exec(script)?.[1]?.match(/"[^"]*"/g)?.length ?? 0;
  return Array.from({ length: Math.min(count, FILES_MAX) }, (_, at) => `navtreeindex${at}.js`);
}
