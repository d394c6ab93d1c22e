import { type Static, Type } from 'typebox';
import { section } from './blocks.ts';
import { deploy, deployment, features, sites, staticExport, storage } from './deployment.ts';
import { exportApi } from './export-api.ts';
import { admin, api, log, metrics, network, server, traces } from './listeners.ts';
import { database, organizations, organizationsFile, rateLimits, search } from './service.ts';

/**
 * The whole config (contract, section 2). Decoding, `config.schema.json`, `docs/config.md` and the chart's schema
 * follow. After a change: `sh scripts/run.sh node scripts/generate.ts`.
 */
const keys = section(
  {
    deployment,
    staticExport,
    sites,
    server,
    admin,
    api,
    storage,
    deploy,
    network,
    features,
    search,
    exportApi,
    database,
    rateLimits,
    organizations,
    organizationsFile,
    metrics,
    traces,
    log,
  },
  'The config of docshelf. Every key may be left out.',
);

export const schemaSource = Type.Unsafe<Static<typeof keys>>({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'docshelf config',
  ...keys,
});

/** Checked and deeply frozen: sizes in bytes, durations in milliseconds, paths absolute. */
export type Config = Static<typeof schemaSource>;
