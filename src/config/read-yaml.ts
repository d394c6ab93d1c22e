import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type YAMLError,
} from 'yaml';
import { childOf, configSchema, type SchemaNode, typesOf } from './schema-node.ts';
import { type ConfigFault, dottedOf, faultOf, pointerOf, type Reading, settingsOf } from './setting.ts';

/** Maximum nodes of a YAML document, counting every use of an alias, because ten lines of nested aliases can exhaust the memory. */
const NODES_MAX = 100_000;
/** Maximum levels of nesting in a YAML document. The schema of the config needs only eight. */
const DEPTH_MAX = 32;

const PLAIN_TAG = /^(?:tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq)|!)$/;

/** Replaces messages of the YAML parser that quote the config file, because a quote can contain a credential. */
const OWN_SENTENCES: Readonly<Record<string, string>> = {
  UNEXPECTED_TOKEN: 'unexpected text here',
  TAG_RESOLVE_FAILED: 'custom tags are not supported',
  BAD_DIRECTIVE: 'this directive is not supported',
  BAD_DQ_ESCAPE: 'this escape sequence does not exist',
  RESOURCE_EXHAUSTION: 'it is nested too deeply',
  MULTIPLE_DOCS: 'it contains several documents, but a config is one document',
};

class YamlFault extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

export interface YamlReading extends Reading {
  readonly written: ReadonlySet<string>;
}

/**
 * Reads YAML 1.2, core schema, with lines and columns. A text setting keeps its source text, such as `3.10`. If the syntax is
 * broken, reports the first error and reads only `storage.dir`, because a command needs this folder to find the daemon.
 */
export function readYaml(text: string, name: string): YamlReading {
  const lines = new LineCounter();
  const whereOf = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  const refused = (offset: number, message: string): YamlReading => {
    const found = settingsOf(storageIn(text), { where: name, places: new Map() });
    return { settings: found, faults: [faultOf(message, null, whereOf(offset))], written: new Set() };
  };
  try {
    const document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      schema: 'core',
      uniqueKeys: false,
    });
    const broken: YAMLError | undefined = document.errors[0] ?? document.warnings[0];
    if (broken !== undefined) {
      const sentence = OWN_SENTENCES[broken.code] ?? broken.message;
      return refused(broken.pos[0], `the YAML is invalid: ${sentence}`);
    }
    const faults: ConfigFault[] = [];
    const places = new Map<string, string>();
    const onPlace = (pointer: string, offset: number) => places.set(pointer, whereOf(offset));
    const onDuplicate = (key: string, offset: number) =>
      faults.push(faultOf(`${key} is set twice; keep one of the two`, key, whereOf(offset)));
    const value = plainData(document, onPlace, onDuplicate);
    if (value !== null && (typeof value !== 'object' || Array.isArray(value)))
      return refused(0, 'a config is a map of keys, such as "staticExport:"');
    const settings = settingsOf(value, { where: name, places });
    return { settings, faults, written: new Set(settings.length === 0 ? [] : places.keys()) };
  } catch (error) {
    if (error instanceof YamlFault) return refused(error.offset, error.message);
    throw error;
  }
}

function storageIn(text: string): object {
  const [block = ''] = /^storage:.*(?:\n(?:[ \t#].*)?)*/m.exec(text) ?? [];
  const dir: unknown = parseDocument(block, { logLevel: 'silent' }).getIn(['storage', 'dir']);
  return typeof dir === 'string' ? { storage: { dir } } : {};
}

type OnNode = (name: string, offset: number) => unknown;

function plainData(document: Document.Parsed, onPlace: OnNode, onDuplicate: OnNode): unknown {
  let nodes = 0;
  return plain(document.contents, configSchema, [], 0);

  function plain(written: unknown, schema: SchemaNode | undefined, path: readonly string[], offset: number): unknown {
    if (path.length > 0) onPlace(pointerOf(path), offset);
    nodes += 1;
    if (nodes > NODES_MAX)
      throw new YamlFault(offset, `it contains more than ${NODES_MAX} values, including each use of an alias`);
    if (path.length > DEPTH_MAX) throw new YamlFault(offset, `it is nested deeper than ${DEPTH_MAX} levels`);
    const node = isAlias(written) ? written.resolve(document) : written;
    if (isAlias(written) && node === undefined)
      throw new YamlFault(offsetOf(written, offset), 'this alias has no anchor before it');
    if (!isNode(node)) return null;
    if (node.tag !== undefined && !PLAIN_TAG.test(node.tag))
      throw new YamlFault(node.range?.[0] ?? offset, `the YAML is invalid: ${OWN_SENTENCES.TAG_RESOLVE_FAILED}`);
    if (isMap(node)) {
      // Use an object without a prototype, so that `__proto__` is an unknown key like any other.
      const map: Record<string, unknown> = Object.create(null);
      for (const { key, value } of node.items) {
        const keyOffset = offsetOf(key, offset);
        const name = isScalar(key) ? (key.source ?? String(key.value)) : '(a key that is not text)';
        if (Object.hasOwn(map, name)) onDuplicate(dottedOf(pointerOf([...path, name])), keyOffset);
        map[name] = plain(value, childOf(schema, name), [...path, name], keyOffset);
      }
      return map;
    }
    if (isSeq(node)) {
      return node.items.map((item, index) =>
        plain(item, schema?.items, [...path, String(index)], offsetOf(item, offset)),
      );
    }
    if (!isScalar(node)) return null;
    const { value, source } = node;
    const types = typesOf(schema);
    const wantsText = types.has('string') && !types.has('integer') && !types.has('boolean');
    return typeof value === 'string' || value === null || !wantsText ? value : (source ?? String(value));
  }
}

const offsetOf = (node: unknown, otherwise: number): number =>
  isNode(node) ? (node.range?.[0] ?? otherwise) : otherwise;
