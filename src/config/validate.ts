import { Ajv, type ErrorObject } from 'ajv';
import { editDistance } from '../domain/text.ts';
import {
  CONFIG_KEYS,
  FORMATS,
  parseDuration,
  parseSize,
  type SchemaNode,
  schemaAt,
  sectionOf,
  typesOf,
} from './schema-node.ts';
import {
  type ConfigFault,
  dottedOf,
  FAULTS_MAX,
  faultOf,
  isPlainName,
  pointerOf,
  type Setting,
  Settings,
} from './setting.ts';

/** Caches the compiled check of each schema, so that a reload does not compile the check of the same key again. */
const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  // Do not validate the schema itself, which is generated and tested. The validation would cost 20 ms at every start.
  meta: false,
  validateSchema: false,
  strict: false,
  // Do not optimize the generated code, because optimizing takes longer than running the code once.
  code: { optimize: false },
  formats: FORMATS,
  keywords: [
    {
      keyword: 'x-bounds',
      validate: (bounds: { min: string; max: string }, written: unknown) => {
        const parse = /[smhd]$/.test(bounds.min) ? parseDuration : parseSize;
        const value = parse(written);
        return value === null || (value >= (parse(bounds.min) ?? 0) && value <= (parse(bounds.max) ?? 0));
      },
    },
  ],
});

/** Compiles only the schemas of the keys that are set, usually in less than 10 ms of CPU. The whole schema would take 47 ms. */
export function validate(settings: Settings) {
  const faults: ConfigFault[] = [];
  /** JSON pointers of settings whose value has an error. */
  const faulty = new Set<string>();
  const sound: Setting[] = [];
  for (const setting of settings.all()) {
    if (faults.length > FAULTS_MAX) break;
    const schema = schemaAt(setting.path);
    const found = schema === undefined ? [unknownKey(setting)] : faultsOf(setting, schema);
    if (found.length === 0) sound.push(setting);
    else faulty.add(pointerOf(setting.path));
    faults.push(...found);
  }
  return { faults, faulty, sound: new Settings(sound) };
}

function faultsOf({ path, value, where, places }: Setting, schema: SchemaNode): ConfigFault[] {
  const check = ajv.compile(schema);
  if (check(value)) return [];
  const top = pointerOf(path);
  return explainErrors(check.errors ?? [], top).map(({ pointer, missing, message }) =>
    faultOf(message, dottedOf(missing ?? pointer), places.get(pointer) ?? where),
  );
}

function unknownKey({ path, where }: Setting): ConfigFault {
  const parent = path.slice(0, -1);
  const name = path.at(-1) ?? '';
  const siblings = Object.keys(sectionOf(schemaAt(parent))?.properties ?? {});
  return faultOf(unknownKeySentence(parent.join('.'), name, siblings), dottedOf(pointerOf(path)), where);
}

type Explanation = { readonly pointer: string; readonly missing?: string; readonly message: string };

/** Omits wrong values from the messages, because a value can be a credential. @param top JSON pointer of the checked value */
function explainErrors(errors: readonly ErrorObject[], top: string): Explanation[] {
  // Keep one error more than is shown, so that the message can add "or more".
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
  const not = isOfOtherKind ? kindClause(error.data) : '';
  return { pointer, message: `${dotted} must be ${expectationOf(schema)}${not}` };
}

/**
 * Keeps one error for each mistake. If a map fails an `anyOf`, keeps the errors of its keys. If a value of another type fails
 * an `anyOf`, keeps only the error of the `anyOf`.
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

const either = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

export function expectationOf(schema: SchemaNode): string {
  const bounds = schema['x-bounds'];
  const within = bounds === undefined ? '' : `, from ${bounds.min} to ${bounds.max}`;
  if (schema['x-expects'] !== undefined) return `${schema['x-expects']}${within}`;
  if (schema.enum !== undefined) return either(schema.enum.map(String));
  if (schema.anyOf !== undefined) return either(schema.anyOf.map(expectationOf));
  if (schema.type === 'integer') return `an integer from ${schema.minimum} to ${schema.maximum}`;
  return TYPES[String(schema.type)] ?? 'a value';
}

function kindClause(value: unknown): string {
  if (value === null || value === undefined) return ', but it has no value';
  if (Array.isArray(value)) return ', not a list';
  if (typeof value === 'boolean') return `, not ${value}`;
  return `, not ${TYPES[typeof value] ?? 'a value'}`;
}

const lower = (name: string): string => name.toLowerCase();

export function nearestOf(name: string, names: readonly string[]): string | undefined {
  const distances = names.map((candidate) => editDistance(lower(name), lower(candidate)));
  return names[distances.indexOf(Math.min(...distances))];
}

const REMOVED: Readonly<Record<string, string>> = {
  'server.workers':
    'docshelf removed it on 2026-11-27 and serves from one process. Remove the key, and add replicas to scale',
};

function unknownKeySentence(parent: string, name: string, siblings: readonly string[]): string {
  const dotted = parent === '' ? name : `${parent}.${name}`;
  if (Object.hasOwn(REMOVED, dotted)) return `unknown key "${dotted}": ${REMOVED[dotted]}`;
  const shown = isPlainName(name) ? `"${dotted}"` : 'with special characters in its name';
  const nearest = nearestKey(parent, name, siblings);
  return `unknown key ${shown}${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`;
}

function nearestKey(parent: string, name: string, siblings: readonly string[]): string | undefined {
  const inParent = (key: string): string => (parent === '' ? key : `${parent}.${key}`);
  const sibling = nearestOf(name, siblings);
  if (sibling !== undefined && isLike(name, sibling)) return inParent(sibling);
  const elsewhere = CONFIG_KEYS.find(({ path }) => isLike(name, path.at(-1) ?? ''));
  if (elsewhere !== undefined) return elsewhere.path.join('.');
  return sibling === undefined ? undefined : inParent(sibling);
}

const isLike = (name: string, other: string): boolean =>
  editDistance(lower(name), lower(other)) * 3 <= Math.max(name.length, other.length);
