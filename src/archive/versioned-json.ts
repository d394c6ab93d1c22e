import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { DocshelfError } from '../domain/errors.ts';

export type DocumentFault = (
  state: string,
  why?: { readonly cause?: unknown; readonly isNewer?: boolean },
) => DocshelfError;

export function parseJson(bytes: Uint8Array, faultOf: DocumentFault): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw faultOf('it is not JSON in UTF-8', { cause });
  }
}

/** Compiles the schema on first use. If the schema has a `formatVersion`, the error for data of a later version has `isNewer`. */
export function checkerOf<Value>(schema: {
  readonly properties: object;
}): (value: unknown, faultOf: DocumentFault) => Value {
  let compiled: ValidateFunction<Value> | null = null;
  const compile = (): ValidateFunction<Value> => {
    const ajv = new Ajv();
    addFormats.default(ajv, ['date-time']);
    return ajv.compile<Value>(schema);
  };
  const known =
    (schema.properties as { readonly formatVersion?: { readonly const: number } }).formatVersion?.const ?? Infinity;
  return (value, faultOf) => {
    const version = (value as { formatVersion?: unknown } | null)?.formatVersion;
    if (Number.isInteger(version) && (version as number) > known)
      throw faultOf(`its format version is ${version}, and this docshelf knows ${known}`, { isNewer: true });
    compiled ??= compile();
    const fits = compiled;
    if (fits(value)) return value;
    const [fault] = fits.errors ?? [];
    throw faultOf(`${fault?.instancePath || 'it'} ${fault?.message}`);
  };
}
