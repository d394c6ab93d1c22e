import type { ErrorCode } from './errors.ts';
import type { ShapeOf } from './shape.ts';

/** Call of an HTTP interface. docshelf derives the route, checks, OpenAPI description and clients from this object. */
export interface Operation {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: `/${string}`;
  readonly tag: Tag;
  readonly security: SecurityScheme | null;
  readonly summary: string;
  readonly description?: string;
  /** Action in messages such as `Cannot <act>: the field "x" is missing`. */
  readonly act: string;
  readonly parameters?: Readonly<Record<string, Described>>;
  readonly query?: ObjectSchema;
  /** Schema of the JSON body. Null accepts only a missing body or an empty object. Without this member, docshelf reads no JSON. */
  readonly body?: RequestBody | null;
  readonly upload?: { readonly type: string; readonly description: string };
  readonly answers: Readonly<Record<number, OperationAnswer>>;
  /** Errors of this operation, except errors for the key or an unreadable body, which all operations can return. */
  readonly faults?: readonly Fault[];
  readonly headers?: Readonly<Record<string, object>>;
  /** True if scripts of every origin may call the operation, without credentials (Fetch standard, section 3.2). */
  readonly isOpenToAllOrigins?: boolean;
}

export type UnnamedOperation = Omit<Operation, 'id'>;

/** Uses the key of each operation as its `id`. */
export function withIds<const Operations extends Readonly<Record<string, UnnamedOperation>>>(operations: Operations) {
  const named = Object.entries(operations).map(([id, operation]) => [id, { ...operation, id }]);
  return Object.fromEntries(named) as { readonly [Id in keyof Operations]: Operations[Id] & { readonly id: Id } };
}

export type Tag = { readonly name: string; readonly description: string };

export type SecurityScheme = { readonly name: string; readonly description: string; readonly faults: readonly Fault[] };

export interface Described {
  readonly description: string;
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface ObjectSchema {
  readonly type: 'object';
  readonly properties: Readonly<
    Record<string, { readonly type?: string | readonly string[]; readonly description?: string }>
  >;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
}

type RequestBody = { readonly schema: object; readonly examples: Readonly<Record<string, unknown>> };

export interface OperationAnswer {
  readonly description: string;
  readonly schema?: object;
  readonly examples?: Readonly<Record<string, unknown>>;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, object>>;
}

export type Fault = { readonly code: ErrorCode; readonly description: string; readonly message: string };

export type BodyOf<Op extends Pick<Operation, 'body'>> = Op['body'] extends { readonly schema: infer Schema }
  ? ShapeOf<Schema>
  : undefined;
export type QueryOf<Op extends Pick<Operation, 'query'>> = Op['query'] extends ObjectSchema
  ? ShapeOf<Op['query']>
  : Readonly<Record<never, never>>;
