import { access, constants, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Document, isMap, isScalar, type Node, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { readText } from '../../config/read-config-file.ts';
import { DocshelfError, errnoOf, errnoState, rethrowAs } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { replaceFile } from '../../files/index.ts';

const VALUES_BYTES_MAX = 4 * 1024 ** 2;
/** Mode of a new values file. Only its owner can read the file, because the bundle link in it is a credential. */
const MODE_NEW = 0o600;

/**
 * Checks that the values file can be edited. Call this before an export, which can take minutes.
 * @throws DocshelfError `cannot_read`, `cannot_write`
 */
export async function checkValuesFile(file: string): Promise<void> {
  const { path, text } = await read(file);
  if (sectionIn(text).bundleUrlFile !== undefined) {
    const state = `Cannot set staticExport.bundleUrl in "${file}": it sets bundleUrlFile`;
    throw new DocshelfError('cannot_write', state, {
      next: 'Remove bundleUrlFile, or write the link into the file that bundleUrlFile names ("docshelf export bundle JOB" prints the link).',
    });
  }
  editValues(text, { bundleUrl: '', version: '', sha256: '' });
  await access(dirname(path), constants.W_OK).catch(cannotWrite(file));
}

/** Replaces the values file in one step. After an error, the file is unchanged. @throws DocshelfError `cannot_read`, `cannot_write` */
export async function writeValues(
  file: string,
  { bundleUrl, version, sha256 }: { readonly bundleUrl: Secret; readonly version: string; readonly sha256: string },
): Promise<void> {
  const { path, text, mode } = await read(file);
  const edited = editValues(text, { bundleUrl: bundleUrl.reveal(), version, sha256 });
  if (edited === text) return;
  await replaceFile(path, edited, mode === null ? MODE_NEW : mode & 0o7777).catch(cannotWrite(file));
}

async function read(file: string): Promise<{ path: string; text: string; mode: number | null }> {
  const next = 'Pass a YAML file with --write-values.';
  try {
    const path = await realpath(file);
    const info = await stat(path);
    // docshelf replaces the file, which would remove a device such as /dev/null.
    if (!info.isFile()) throw new DocshelfError('cannot_read', `Cannot read "${file}": it is not a file`, { next });
    return { path, text: await readText(path, VALUES_BYTES_MAX), mode: info.mode };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { path: resolve(file), text: '', mode: null };
    return rethrowAs('cannot_read', `read "${file}"`, next)(error);
  }
}

function cannotWrite(file: string) {
  const next = 'Pass a file in an existing, writable folder.';
  return rethrowAs('cannot_write', `write "${file}"`, next, errnoState);
}

const SECTION = 'staticExport';

interface ParsedMap extends YAMLMap<Node, Node | null> {}
type ParsedPair = Pair<Node, Node | null>;

/**
 * Sets values in a YAML text, and keeps its comments, order, quotes, indentation and line ends.
 * @throws DocshelfError `cannot_write` for an unsupported YAML style
 */
export function editValues(text: string, values: Readonly<Record<string, string>>): string {
  const bom = text.startsWith('\ufeff') ? '\ufeff' : '';
  let edited = text.slice(bom.length);
  for (const [key, value] of Object.entries(values)) {
    const before = dataOf(parse(edited));
    edited = setKey(edited, parse(edited), key, JSON.stringify(value));
    // Verify that the edited YAML has the new value of the key, and that all other values are unchanged.
    const expected = { ...before, [SECTION]: { ...(before[SECTION] as object | null), [key]: value } };
    if (!isDeepStrictEqual(dataOf(parse(edited)), expected)) throw cannotEdit('docshelf cannot edit its YAML style');
  }
  return bom + edited;
}

function sectionIn(text: string): Readonly<Record<string, unknown>> {
  const section = dataOf(parse(text.replace(/^\ufeff/, '')))[SECTION];
  if (section === null || section === undefined) return {};
  if (typeof section !== 'object' || Array.isArray(section)) throw cannotEdit(`its ${SECTION} is not a map`);
  return section as Record<string, unknown>;
}

function parse(text: string): Document.Parsed {
  const document = parseDocument(text);
  if (document.errors.length === 0) return document;
  const [line] = document.errors.map(({ linePos }) => linePos?.[0].line);
  throw cannotEdit(`it is not a single, valid YAML document${line === undefined ? '' : ` (line ${line})`}`);
}

function dataOf(document: Document.Parsed): Record<string, unknown> {
  const data: unknown = document.toJS() ?? {};
  if (typeof data !== 'object' || Array.isArray(data)) throw cannotEdit('it is not a map');
  return data as Record<string, unknown>;
}

function setKey(text: string, document: Document.Parsed, key: string, literal: string): string {
  const root = document.contents as Node | null;
  const lineEnd = text === '' || text.endsWith('\n') ? '' : eolOf(text);
  if (!isMap(root)) return `${text}${lineEnd}${blockSection(text, '', '  ', key, literal)}`;
  const map = root as ParsedMap;
  const section = pairOf(map, SECTION);
  if (section === undefined) return addSection(text, map, key, literal);
  const { value } = section;
  if (isMap(value)) return setInMap(text, value as ParsedMap, key, literal);
  if (value === null || !isScalar(value) || value.value !== null) throw cannotEdit(`its ${SECTION} is not a map`);
  const [start, end] = rangeOf(value);
  if (end > start || map.flow === true)
    return splice(text, start, end, spaced(text, start, end, `{ ${key}: ${literal} }`));
  // The YAML section is empty, so add the key on the line after the name of the section.
  const indent = indentOf(text, section) + stepOf(text, map);
  return insertLine(text, start, `${indent}${key}: ${literal}`);
}

function setInMap(text: string, map: ParsedMap, key: string, literal: string): string {
  const pair = pairOf(map, key);
  if (pair === undefined) return addToMap(text, map, key, literal);
  const [start, end] = pair.value === null ? [rangeOf(pair.key)[1], rangeOf(pair.key)[1]] : rangeOf(pair.value);
  // Add the colon, which a key without a value can lack in a flow map.
  if (pair.value === null) return splice(text, start, end, `: ${literal}`);
  const lineEnd = /\r?\n$/.exec(text.slice(start, end))?.[0] ?? '';
  return splice(text, start, end, spaced(text, start, end, literal) + lineEnd);
}

function addSection(text: string, root: ParsedMap, key: string, literal: string): string {
  if (root.flow === true) return addToFlow(text, root, `${SECTION}: { ${key}: ${literal} }`);
  const last = root.items.at(-1);
  const step = stepOf(text, root);
  const lines = blockSection(text, last === undefined ? '' : indentOf(text, last), step, key, literal);
  return insertLine(text, endOf(last), lines.slice(0, -eolOf(text).length));
}

function addToMap(text: string, map: ParsedMap, key: string, literal: string): string {
  if (map.flow === true) return addToFlow(text, map, `${key}: ${literal}`);
  const last = map.items.at(-1);
  if (last === undefined) throw cannotEdit(`docshelf cannot edit the YAML style of its ${SECTION}`);
  return insertLine(text, endOf(last), `${indentOf(text, last)}${key}: ${literal}`);
}

/** Adds an entry at the start of a YAML flow map, because the end of the map can be a comment or a comma. */
function addToFlow(text: string, map: ParsedMap, entry: string): string {
  const inside = rangeOf(map)[0] + 1;
  const rest = map.items.length > 0 ? `,${text[inside] === ' ' ? '' : ' '}` : text[inside] === '}' ? ' ' : '';
  return splice(text, inside, inside, ` ${entry}${rest}`);
}

function blockSection(text: string, indent: string, step: string, key: string, literal: string): string {
  const eol = eolOf(text);
  return `${indent}${SECTION}:${eol}${indent}${step}${key}: ${literal}${eol}`;
}

function insertLine(text: string, position: number, line: string): string {
  const eol = eolOf(text);
  if (position > 0 && text[position - 1] === '\n') return splice(text, position, position, line + eol);
  const end = text.indexOf('\n', position);
  return end < 0 ? `${text}${eol}${line}${eol}` : splice(text, end + 1, end + 1, line + eol);
}

/** Adds the spaces that a YAML key without a value can lack, after its colon and before a comment. */
function spaced(text: string, start: number, end: number, value: string): string {
  if (end > start) return value;
  return `${text[start - 1] === ':' ? ' ' : ''}${value}${text[start] === '#' ? ' ' : ''}`;
}

const pairOf = (map: ParsedMap, name: string): ParsedPair | undefined =>
  map.items.find(({ key }) => isScalar(key) && key.value === name);

const endOf = (pair: ParsedPair | undefined): number => (pair === undefined ? 0 : rangeOf(pair.value ?? pair.key)[1]);

function indentOf(text: string, { key }: ParsedPair): string {
  const [start] = rangeOf(key);
  const indent = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  if (/^ *$/.test(indent)) return indent;
  throw cannotEdit('docshelf cannot edit its YAML style');
}

function stepOf(text: string, root: ParsedMap): string {
  for (const pair of root.items) {
    const first = isMap(pair.value) && pair.value.flow !== true ? (pair.value as ParsedMap).items[0] : undefined;
    if (first !== undefined) return indentOf(text, first).slice(indentOf(text, pair).length);
  }
  return '  ';
}

function rangeOf(node: Node): readonly [start: number, end: number] {
  if (node.range === null || node.range === undefined) throw new Error('a parsed node without its range');
  return [node.range[0], node.range[1]];
}

const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

const splice = (text: string, start: number, end: number, part: string): string =>
  text.slice(0, start) + part + text.slice(end);

function cannotEdit(state: string): DocshelfError {
  return new DocshelfError('cannot_write', `Cannot set ${SECTION} in the values file: ${state}`, {
    next: `Write bundleUrl, version, and sha256 under ${SECTION} by hand, one per line.`,
  });
}
