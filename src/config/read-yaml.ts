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
import type { ConfigFault } from './faults.ts';
import { childOf, configSchema, type SchemaNode, typesOf } from './schema-node.ts';
import { dottedOf, pointerOf, type Setting, settingsOf } from './setting.ts';

/** Values in one file, every use of an alias counted anew: nested aliases multiply, and a bomb is ten lines long. */
const NODES_MAX = 100_000;
/** Levels of nesting; the schema has eight. */
const DEPTH_MAX = 32;

/** Tags that say of a value what YAML's core schema would say anyway, or that it is text. */
const PLAIN_TAG = /^(?:tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq)|!)$/;

/** In place of the parser's sentences that quote the file, which may hold a credential there, or speak of its insides. */
const OWN_SENTENCES: Readonly<Record<string, string>> = {
  UNEXPECTED_TOKEN: 'something stands here that does not belong here',
  TAG_RESOLVE_FAILED: 'custom tags are not supported',
  BAD_DIRECTIVE: 'this directive is not supported',
  BAD_DQ_ESCAPE: 'this escape sequence does not exist',
  RESOURCE_EXHAUSTION: 'it is nested too deeply',
  MULTIPLE_DOCS: 'it holds several documents, and a config is one',
};

export interface YamlReading {
  readonly settings: readonly Setting[];
  readonly faults: readonly ConfigFault[];
}

class YamlFault extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/**
 * The settings of a YAML file (YAML 1.2, core schema), every one with its line and column. A value whose key wants
 * text is its source text: `3.10` stays `3.10`. Where the syntax is broken, the first fault is reported and nothing
 * is read, because what a parser makes of the rest is a guess.
 */
export function readYaml(text: string, name: string): YamlReading {
  const lines = new LineCounter();
  const whereOf = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  const faultAt = (offset: number, message: string): ConfigFault => ({
    code: 'config_invalid',
    message,
    key: null,
    where: whereOf(offset),
  });
  try {
    const document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      schema: 'core',
      // Found while reading: the parser compares every key with every other.
      uniqueKeys: false,
    });
    const broken: YAMLError | undefined = document.errors[0] ?? document.warnings[0];
    if (broken !== undefined) {
      const sentence = OWN_SENTENCES[broken.code] ?? broken.message;
      return { settings: [], faults: [faultAt(broken.pos[0], `the YAML is broken: ${sentence}`)] };
    }
    const faults: ConfigFault[] = [];
    const places = new Map<string, string>();
    const value = new NodeReader(document, {
      onPlace: (pointer, offset) => places.set(pointer, whereOf(offset)),
      onDuplicate: (key, offset) => {
        faults.push({ ...faultAt(offset, `${key} is there twice; keep one of the two`), key });
      },
    }).read();
    if (value !== null && (typeof value !== 'object' || Array.isArray(value))) {
      return { settings: [], faults: [faultAt(0, 'a config is a map of keys, such as "staticExport:"')] };
    }
    return { settings: settingsOf(value, { where: name, places }), faults };
  } catch (error) {
    if (error instanceof YamlFault) return { settings: [], faults: [faultAt(error.offset, error.message)] };
    throw error;
  }
}

interface NodeEvents {
  readonly onPlace: (pointer: string, offset: number) => void;
  readonly onDuplicate: (key: string, offset: number) => void;
}

/** Turns nodes into plain data, resolving aliases within the bound, and tells the place of every key and item. */
class NodeReader {
  readonly #document: Document.Parsed;
  readonly #on: NodeEvents;
  #nodes = 0;

  constructor(document: Document.Parsed, on: NodeEvents) {
    this.#document = document;
    this.#on = on;
  }

  read(): unknown {
    return this.#plain(this.#document.contents, configSchema, [], 0);
  }

  #plain(written: unknown, schema: SchemaNode | undefined, path: readonly string[], offset: number): unknown {
    this.#nodes += 1;
    if (this.#nodes > NODES_MAX)
      throw new YamlFault(offset, `it holds more than ${NODES_MAX} values, each use of an alias counted`);
    if (path.length > DEPTH_MAX) throw new YamlFault(offset, `it is nested deeper than ${DEPTH_MAX} levels`);
    const node = this.#resolve(written, offset);
    if (!isNode(node)) return null;
    if (node.tag !== undefined && !PLAIN_TAG.test(node.tag)) {
      throw new YamlFault(node.range?.[0] ?? offset, `the YAML is broken: ${OWN_SENTENCES.TAG_RESOLVE_FAILED}`);
    }
    if (isMap(node)) {
      // No prototype: a key named `__proto__` is a key like any other, and an unknown one.
      const map: Record<string, unknown> = Object.create(null);
      for (const { key, value } of node.items) {
        const keyOffset = isNode(key) ? (key.range?.[0] ?? offset) : offset;
        const name = isScalar(key) ? (key.source ?? String(key.value)) : '(a key that is no text)';
        if (Object.hasOwn(map, name)) this.#on.onDuplicate(dottedOf(pointerOf([...path, name])), keyOffset);
        map[name] = this.#child(value, childOf(schema, name), [...path, name], keyOffset);
      }
      return map;
    }
    if (isSeq(node)) {
      return node.items.map((item, index) => {
        const itemOffset = isNode(item) ? (item.range?.[0] ?? offset) : offset;
        return this.#child(item, schema?.items, [...path, String(index)], itemOffset);
      });
    }
    if (!isScalar(node)) return null;
    const { value, source } = node;
    if (typeof value === 'string' || value === null || !wantsText(schema)) return value;
    return source ?? String(value);
  }

  #child(node: unknown, schema: SchemaNode | undefined, path: readonly string[], offset: number): unknown {
    this.#on.onPlace(pointerOf(path), offset);
    return this.#plain(node, schema, path, offset);
  }

  #resolve(node: unknown, offset: number): unknown {
    if (!isAlias(node)) return node;
    const target = node.resolve(this.#document);
    if (target === undefined) throw new YamlFault(node.range?.[0] ?? offset, 'this alias has no anchor before it');
    return target;
  }
}

function wantsText(schema: SchemaNode | undefined): boolean {
  const types = typesOf(schema);
  return types.has('string') && !types.has('integer') && !types.has('boolean');
}
