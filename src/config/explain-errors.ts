import type { ErrorObject } from 'ajv';
import { FAULTS_MAX } from './faults.ts';
import { unknownKeySentence } from './nearest.ts';
import { type SchemaNode, typesOf } from './schema-node.ts';
import { dottedOf, pointerOf } from './setting.ts';

export interface Explanation {
  /** JSON Pointer from the top of the config. */
  readonly pointer: string;
  readonly missing?: string;
  readonly message: string;
}

/** Sentences that say what a key takes, and never what it holds. `top`: pointer of the checked value. */
export function explainErrors(errors: readonly ErrorObject[], top: string): Explanation[] {
  // One more than is shown tells that there are more.
  return distinct(errors)
    .slice(0, FAULTS_MAX + 1)
    .map((error) => explain(error, `${top}${error.instancePath}`));
}

function explain(error: ErrorObject, pointer: string): Explanation {
  const schema = error.parentSchema as SchemaNode;
  const dotted = dottedOf(pointer);
  const { additionalProperty, missingProperty } = error.params as Record<string, string | undefined>;
  if (additionalProperty !== undefined) {
    const message = unknownKeySentence(dotted, additionalProperty, Object.keys(schema.properties ?? {}));
    return { pointer: `${pointer}${pointerOf([additionalProperty])}`, message };
  }
  if (missingProperty !== undefined) {
    const missing = `${pointer}${pointerOf([missingProperty])}`;
    return { pointer, missing, message: `${dottedOf(missing)} is missing` };
  }
  if (error.propertyName !== undefined) {
    const message = `every name in ${dotted} must be ${expectationOf(schema)}`;
    return { pointer: `${pointer}${pointerOf([error.propertyName])}`, message };
  }
  const isOfOtherKind = error.keyword === 'type' && !typesOf(schema).has(typeof error.data);
  const not = isOfOtherKind ? `, not ${kindOf(error.data)}` : '';
  return { pointer, message: `${dotted} must be ${expectationOf(schema)}${not}` };
}

/**
 * One error for each fault. Where no alternative fits: the faults inside if it and the value are maps, else the whole.
 */
function distinct(errors: readonly ErrorObject[]): ErrorObject[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf');
  const kept = errors.filter((error) => {
    const union = unions.find(({ schemaPath }) => error.schemaPath.startsWith(`${schemaPath}/`));
    if (error.keyword === 'anyOf') return !hasMapFaults(error, errors);
    if (union === undefined) return true;
    return hasMapFaults(union, errors) && !(error.keyword === 'type' && error.instancePath === union.instancePath);
  });
  const seen = new Set<string>();
  return kept.filter((error) => {
    const { additionalProperty, missingProperty } = error.params as Record<string, string | undefined>;
    if (error.keyword === 'propertyNames') return false;
    const name = additionalProperty ?? missingProperty ?? error.propertyName ?? '';
    const identity = `${error.instancePath} ${name}`;
    return !seen.has(identity) && seen.add(identity);
  });
}

function hasMapFaults(union: ErrorObject, errors: readonly ErrorObject[]): boolean {
  const isMap = typeof union.data === 'object' && union.data !== null && !Array.isArray(union.data);
  const takesMap = typesOf(union.parentSchema as SchemaNode).has('object');
  return isMap && takesMap && errors.some((error) => error.schemaPath.startsWith(`${union.schemaPath}/`));
}

const TYPES: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  string: 'text',
  array: 'a list',
  object: 'a map',
  null: 'empty',
  number: 'a number',
};

function either(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** Follows "must be": `an integer from 0 to 65535`. */
export function expectationOf(schema: SchemaNode): string {
  const bounds = schema['x-bounds'];
  const within = bounds === undefined ? '' : `, from ${bounds.min} to ${bounds.max}`;
  if (schema['x-expects'] !== undefined) return `${schema['x-expects']}${within}`;
  if (schema.enum !== undefined) return either(schema.enum.map(String));
  if (schema.anyOf !== undefined) return either(schema.anyOf.map(expectationOf));
  if (schema.type === 'integer') return `an integer from ${schema.minimum} to ${schema.maximum}`;
  return TYPES[String(schema.type)] ?? 'a value';
}

/** Follows "not": only for a value of another kind altogether. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'boolean') return String(value);
  return TYPES[typeof value] ?? 'a value';
}
