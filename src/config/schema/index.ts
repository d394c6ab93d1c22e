import { type Static, Type } from 'typebox';
import { admin, deployment, features, log, server, staticExport, storage } from './deployment.ts';
import { network } from './network.ts';
import { api, exportApi, organizations, organizationsFile, search } from './service.ts';

/**
 * The whole config (contract, section 2): the one source of the validation, of the types, of `config.schema.json` and
 * of `docs/config.md`. After a change: `sh scripts/run.sh node scripts/generate.ts`.
 */
export const schemaSource = Type.Object(
  {
    deployment,
    staticExport,
    server,
    admin,
    api,
    storage,
    network,
    features,
    search,
    exportApi,
    organizations,
    organizationsFile,
    log,
  },
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'docshelf config',
    description: 'The config of docshelf. Every key may be left out.',
    additionalProperties: false,
    required: undefined,
  },
);

/** Every key with its default filled and its unit converted; a key that has neither value nor default is absent. */
export type Values = Static<typeof schemaSource>;
