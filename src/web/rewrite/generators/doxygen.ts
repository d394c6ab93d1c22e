import type { GeneratorSource } from './addresses.ts';

const SECTIONS = /\bindexSectionsWithContent\s*=\s*\{([^}]*)\}/;
const SECTION_NAMES = /\bindexSectionNames\s*=\s*\{([^}]*)\}/;
const ENTRY = /(\d+)\s*:\s*"((?:[^"\\]|\\.)*)"/g;
const NAVIGATION = /\bNAVTREEINDEX\s*=\s*\[([^\]]*)\]/;
const BRANCH = /\[\s*(?:"(?:[^"\\]|\\.)*"|null)\s*,\s*(?:"[^"]*"|null)\s*,\s*"([\w.-]+)"\s*\]/g;
const NAME = /^\w+$/;
/** A large library has a few hundred. */
const FILES_MAX = 5_000;

/** The parts of Doxygen's search, one for each section and letter, which `searchdata.js` counts. */
export function searchParts({ text: script }: GeneratorSource): string[] {
  const names = new Map(entriesIn(script, SECTION_NAMES));
  const files = entriesIn(script, SECTIONS).flatMap(([section, letters]) => {
    const name = names.get(section) ?? '';
    if (!NAME.test(name)) return [];
    const parts = Array.from({ length: Math.min(letters.length, FILES_MAX) }, (_, at) => `${name}_${at.toString(16)}`);
    // Before 1.9.2 a page of results loads the script.
    return parts.flatMap((part) => [`${part}.js`, `${part}.html`]);
  });
  return files.slice(0, FILES_MAX);
}

function entriesIn(script: string, table: RegExp): (readonly [key: string, value: string])[] {
  const rows = table.exec(script)?.[1] ?? '';
  return Array.from(rows.matchAll(ENTRY), ([, key = '', value = '']) => [key, value.replace(/\\(.)/g, '$1')] as const);
}

export function treeParts(source: GeneratorSource): string[] {
  const count = NAVIGATION.exec(source.text)?.[1]?.match(/"[^"]*"/g)?.length ?? 0;
  const parts = Array.from({ length: Math.min(count, FILES_MAX) }, (_, at) => `navtreeindex${at}.js`);
  return [...parts, ...branchFiles(source)].slice(0, FILES_MAX);
}

export function branchFiles({ text }: GeneratorSource): string[] {
  return Array.from(text.matchAll(BRANCH), ([, name]) => `${name}.js`).slice(0, FILES_MAX);
}
