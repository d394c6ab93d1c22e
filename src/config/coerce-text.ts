import { type SchemaNode, typesOf } from './schema-node.ts';

interface Written {
  readonly schema: SchemaNode;
  readonly text: string;
}

/**
 * Texts from the environment or the command line as values of the types that their keys take: `8080` a number, `true` a
 * boolean, `[…]` and `{…}` JSON. A text that is of no such type stays text, and the validation of the whole says so:
 * this step converts and never judges.
 */
export async function coerceText(written: readonly Written[]): Promise<unknown[]> {
  const values: unknown[] = written.map(({ schema, text }) => parseJson(text, typesOf(schema)));
  const texts = Object.fromEntries([...values.entries()].filter(([, value]) => typeof value === 'string'));
  if (Object.keys(texts).length === 0) return values;
  // Imported here, because its import alone costs 19 ms of CPU and most starts on a bare machine need none of it.
  const { envSchema } = await import('env-schema');
  const coerced: Record<string, unknown> = envSchema({
    // env-schema drops what its schema does not name and writes into the schema: names were checked before, and
    // this schema is made for this one call.
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

/** Lists and maps are written as JSON. What is no JSON stays text. */
function parseJson(text: string, types: ReadonlySet<string>): unknown {
  const looksLikeJson = (types.has('array') && /^\s*\[/.test(text)) || (types.has('object') && /^\s*\{/.test(text));
  if (!looksLikeJson) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
