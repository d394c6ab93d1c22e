import type { XStatic } from 'typebox/schema';

/**
 * Type of the JSON that a schema accepts. A shape that travels is stated once, as a JSON Schema literal (`as const`)
 * in the common part of draft 7 and 2020-12, for type, check and description. `title` names an OpenAPI component;
 * `x-expects` tells a person what a `pattern` wants; `x-trim` trims a text before its bounds are looked at.
 *
 * TypeBox reads it at compile time: loading it would cost 125 ms of CPU at every start.
 */
export type ShapeOf<Schema> = Frozen<XStatic<Schema>>;

type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

/** The members of a JSON object that nobody has checked; none for any other text. */
export function membersOf<T extends object>(text: string | null): { readonly [Key in keyof T]?: unknown } {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

export const RFC3339 = { type: 'string', format: 'date-time', description: 'RFC 3339, UTC.' } as const;

export const count = (description: string) => ({ type: 'integer', minimum: 0, description }) as const;
export const text = (description: string) => ({ type: 'string', description }) as const;
export const textOrNull = (description: string) => ({ type: ['string', 'null'], description }) as const;
export const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description }) as const;
