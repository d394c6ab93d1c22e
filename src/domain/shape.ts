import type { XStatic } from 'typebox/schema';

/**
 * Type of the values that a schema allows. Import only types from TypeBox, because loading its code takes 125 ms. In a schema,
 * `title` is the name of the OpenAPI component, `x-expects` explains `pattern`, and `x-trim` trims values before the check.
 */
export type ShapeOf<Schema> = Frozen<XStatic<Schema>>;

type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

/** Value of a JSON text, without a check of its type. Undefined for text that is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Members of a JSON object, without a check of their types. Empty for text that is not a JSON object. */
export const membersOf = <T extends object>(text: string | null): { readonly [Key in keyof T]?: unknown } =>
  membersIn<T>(jsonOf(text ?? ''));

/** Members of a value, without a check of their types. Empty if the value is not an object. */
export const membersIn = <T extends object = Record<string, unknown>>(
  value: unknown,
): { readonly [Key in keyof T]?: unknown } => (typeof value === 'object' && value !== null ? value : {});

export const RFC3339 = { type: 'string', format: 'date-time', description: 'RFC 3339, UTC.' } as const;

export const count = (description: string) => ({ type: 'integer', minimum: 0, description }) as const;
export const text = (description: string) => ({ type: 'string', description }) as const;
export const textOrNull = (description: string) => ({ type: ['string', 'null'], description }) as const;
export const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description }) as const;

type Members = Readonly<Record<string, object>>;

export function objectOf<const Needed extends Members, const Optional extends Members = Record<never, never>>(
  needed: Needed,
  optional?: Optional,
) {
  // Cast the keys to a tuple, because TypeBox derives types from tuples only.
  const required = Object.keys(needed) as readonly string[] as readonly [keyof Needed & string];
  return { type: 'object', required, properties: { ...needed, ...optional } as Needed & Optional } as const;
}
