import { resolve } from 'node:path';
import { stateOf } from '../domain/errors.ts';
import { jsonOf } from '../domain/shape.ts';
import { readText } from './read-config-file.ts';
import {
  CONFIG_KEYS,
  CONFIG_SECTIONS,
  environmentName,
  type KeySpec,
  type SchemaNode,
  typesOf,
} from './schema-node.ts';
import { type ConfigFault, type FileReading, faultOf, type Setting, settingsOf } from './setting.ts';
import { nearestOf } from './validate.ts';

const VALUE_FILE_BYTES_MAX = 1024 ** 2;

type Variable = { readonly name: string; readonly key: KeySpec; readonly fromFile: boolean };

/** Normal form of a variable's name, without case and single underscores, so that `STATIC_EXPORT` and `STATICEXPORT` are equal. */
function comparable(name: string): string {
  return name
    .split('__')
    .map((segment) => segment.replaceAll('_', '').toLowerCase())
    .join('__');
}

/**
 * Reads `DOCSHELF__SECTION__KEY`, or the file that `DOCSHELF__SECTION__KEY__FILE` names, and ignores one newline at its end. The
 * value of a section is JSON, and variables of the section's keys override it.
 */
export async function readEnvironment(env: NodeJS.ProcessEnv, baseDir: string): Promise<FileReading> {
  const names = Object.keys(env).filter((name) => /^docshelf__/i.test(name));
  if (names.length === 0) return { settings: [], faults: [], files: [] };

  const { variables, faults } = recogniseAll(names.sort());
  const files: string[] = [];
  const texts: { variable: Variable; text: string; where: string }[] = [];
  for (const variable of variables) {
    const written = env[variable.name] ?? '';
    const key = variable.key.path.join('.');
    if (!variable.fromFile) {
      texts.push({ variable, text: written, where: `environment ${variable.name}` });
      continue;
    }
    const file = resolve(baseDir, written);
    files.push(file);
    try {
      const text = (await readText(file, VALUE_FILE_BYTES_MAX)).replace(/\r?\n$/, '');
      texts.push({ variable, text, where: `file ${written} (${variable.name})` });
    } catch (error) {
      const message = `Cannot read "${written}" for ${key}: ${stateOf(error)}`;
      faults.push(faultOf(message, key, `environment ${variable.name}`));
    }
  }

  const settings: Setting[] = [];
  const values = await coerceText(texts.map(({ variable, text }) => ({ schema: variable.key.schema, text })));
  for (const [index, { variable, text, where }] of texts.entries()) {
    const { path, schema } = variable.key;
    const key = path.join('.');
    if (typeof values[index] === 'string' && looksLikeJson(text, typesOf(schema)))
      faults.push(faultOf(`${key} is not valid JSON`, key, where));
    else settings.push(...settingsOf(values[index], { where, places: new Map() }, path));
  }
  return { settings, faults, files };
}

function recogniseAll(names: readonly string[]): { variables: Variable[]; faults: ConfigFault[] } {
  const known = new Map<string, KeySpec>();
  for (const key of [...CONFIG_SECTIONS, ...CONFIG_KEYS]) known.set(comparable(environmentName(key.path)), key);

  const variables: Variable[] = [];
  const faults: ConfigFault[] = [];
  for (const name of names) {
    const asked = comparable(name);
    const withoutFile = asked.endsWith('__file') ? asked.slice(0, -'__file'.length) : null;
    const exact = known.get(asked);
    const key = exact ?? (withoutFile === null ? undefined : known.get(withoutFile));
    if (key === undefined) {
      faults.push(unknownVariable(name, withoutFile ?? asked, known));
      continue;
    }
    const other = variables.find((variable) => variable.key === key);
    if (other === undefined) variables.push({ name, key, fromFile: exact === undefined });
    else faults.push(setTwice(key, other.name, name));
  }
  return { variables: variables.sort((a, b) => a.key.path.length - b.key.path.length), faults };
}

function unknownVariable(name: string, asked: string, known: ReadonlyMap<string, KeySpec>): ConfigFault {
  const nearest = known.get(nearestOf(asked, [...known.keys()]) ?? '');
  const hint = nearest === undefined ? '' : `; did you mean "${environmentName(nearest.path)}"?`;
  return faultOf(`unknown environment variable "${name}"${hint}`, null, `environment ${name}`);
}

function setTwice(key: KeySpec, first: string, second: string): ConfigFault {
  const dotted = key.path.join('.');
  const message = `${dotted} is set by two environment variables, "${first}" and "${second}"; keep one of them`;
  return faultOf(message, dotted, `environment ${second}`);
}

async function coerceText(written: readonly { readonly schema: SchemaNode; readonly text: string }[]) {
  const values: unknown[] = written.map(({ schema, text }) => parseJson(text, typesOf(schema)));
  const texts = Object.fromEntries([...values.entries()].filter(([, value]) => typeof value === 'string'));
  if (Object.keys(texts).length === 0) return values;
  // Import env-schema on demand, because it takes 19 ms of CPU, and most starts do not need it.
  const { envSchema } = await import('env-schema');
  const coerced: Record<string, unknown> = envSchema({
    // Build a schema of only the set variables, because env-schema modifies its schema, and drops values that the schema lacks.
    schema: { type: 'object', properties: Object.fromEntries(Object.keys(texts).map(propertyOf)) },
    env: false,
    data: texts,
  });
  for (const [index, value] of Object.entries(coerced)) values[Number(index)] = value;
  return values;

  function propertyOf(index: string): [string, object] {
    const types = typesOf(written[Number(index)]?.schema);
    const scalars = ['integer', 'boolean'].filter((type) => types.has(type));
    return [index, { anyOf: [...scalars, 'string'].map((type) => ({ type })) }];
  }
}

const parseJson = (text: string, types: ReadonlySet<string>): unknown =>
  looksLikeJson(text, types) ? (jsonOf(text) ?? text) : text;

function looksLikeJson(text: string, types: ReadonlySet<string>): boolean {
  return (types.has('array') && /^\s*\[/.test(text)) || (types.has('object') && /^\s*\{/.test(text));
}
