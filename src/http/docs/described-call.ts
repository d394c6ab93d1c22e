/** What the page of an interface shows of its OpenAPI document. */
export interface OpenApiText {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, ShownOperation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>;
    readonly schemas: Readonly<Record<string, ShownSchema>>;
  };
}

interface Exemplified {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface WithContent extends Exemplified {
  readonly content?: Readonly<Record<string, Exemplified & { readonly schema?: ShownSchema }>>;
}

interface ShownSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ShownSchema>>;
  readonly required?: readonly string[];
}

interface ShownOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly (Exemplified & {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description?: string;
    readonly schema?: ShownSchema;
  })[];
  readonly requestBody?: WithContent;
  readonly responses: Readonly<Record<string, WithContent & { readonly description: string }>>;
}

export interface DescribedCall {
  readonly method: string;
  readonly path: string;
  readonly operation: ShownOperation;
}

export interface ShownParameter {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

/** The first, of the thing itself or of its content; undefined where there is none. */
export function exampleOf({ example, examples, content }: WithContent): unknown {
  const own = example ?? Object.values(examples ?? {})[0]?.value;
  const [first] = Object.values(content ?? {});
  return own ?? (first === undefined ? undefined : exampleOf(first));
}

/** The fields of a JSON object; null for what is none. */
export function bodyFields(described: WithContent | undefined, { components }: OpenApiText): ShownParameter[] | null {
  const [first] = Object.values(described?.content ?? {});
  const written = first?.schema;
  const schema = components.schemas[written?.$ref?.split('/').at(-1) ?? ''] ?? written;
  if (schema?.properties === undefined) return null;
  return Object.entries(schema.properties).map(([name, field]) => ({
    name,
    type: typeOf(field),
    required: schema.required?.includes(name) ?? false,
    description: field.description ?? '',
  }));
}

export function typeOf({ type, enum: values, const: only }: ShownSchema): string {
  if (only !== undefined) return JSON.stringify(only);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' or ');
  return typeof type === 'string' ? type : (type ?? []).join(' or ');
}

/** In place of the address of the daemon, where nobody says how it is reached; the page's script knows. */
const SERVER = '$DOCSHELF_URL';

/** As it is pasted into a shell. @param server `/` where it is not known */
export function curlLine({ method, path, operation }: DescribedCall, server: string, hasKey: boolean): string {
  const { parameters = [], requestBody } = operation;
  const filled = path.replaceAll(/\{(\w+)\}/g, (written, name: string) => {
    const parameter = parameters.find((each) => each.name === name);
    return encodeURIComponent(String((parameter && exampleOf(parameter)) ?? written));
  });
  const [type] = Object.keys(requestBody?.content ?? {});
  const sent =
    type === 'application/json' ? `-d ${quoted(JSON.stringify(exampleOf(requestBody ?? {}) ?? {}))}` : '-T FILE';
  const parts = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} "${server === '/' ? SERVER : server.replace(/\/$/, '')}${filled}"`,
    ...(hasKey ? ['-H "Authorization: Bearer $KEY"'] : []),
    ...(type === undefined ? [] : [`-H "Content-Type: ${type}"`, sent]),
  ];
  return parts.join(' \\\n  ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
