import { exportPart } from './openapi-export.ts';
import { problemSchema } from './openapi-problem.ts';
import { searchPart } from './openapi-search.ts';

export interface OpenApiFacts {
  readonly programVersion: string;
  /** Null: clients reach the API where they found this document. */
  readonly publicUrl: string | null;
  /** What is turned on; the rest is left out. */
  readonly offered: { readonly search: boolean; readonly exports: boolean };
}

/** The API as an OpenAPI 3.1 document, made of the schemas that requests are checked with. */
export function openApiDocument({ programVersion, publicUrl, offered }: OpenApiFacts): object {
  const parts = [...(offered.search ? [searchPart] : []), ...(offered.exports ? [exportPart] : [])];
  const all = <Key extends 'paths' | 'schemas' | 'securitySchemes'>(key: Key) =>
    Object.assign({}, ...parts.map((part) => part[key]));
  return {
    openapi: '3.1.1',
    info: {
      title: 'docshelf API',
      version: programVersion,
      description:
        'Search over documentation sites, and static exports of them, each where it is turned on. Faults are problem documents (RFC 9457) with a `code`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl ?? '/' }],
    tags: parts.map(({ tag }) => tag),
    paths: all('paths'),
    components: {
      securitySchemes: all('securitySchemes'),
      schemas: { ...all('schemas'), Problem: problemSchema },
    },
  };
}
