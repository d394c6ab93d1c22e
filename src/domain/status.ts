import { DEPLOYMENT_TYPES } from './deployment.ts';
import type { ErrorCode } from './errors.ts';
import { BUNDLE_SOURCE_KINDS } from './release.ts';
import { count, objectOf, RFC3339, type ShapeOf, text, textOrNull, texts } from './shape.ts';

const SEARCH_STATES = ['ready', 'building', 'off', 'failed'] as const;

export const digest = { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the archive.' } as const;
export const version = text('A version label: `2024-06-01`, `v3.2.0`.');

export const lastReloadSchema = {
  title: 'LastReload',
  ...objectOf({
    at: RFC3339,
    ok: { type: 'boolean' },
    error: textOrNull('All errors of the config in one text; null if the config is valid.'),
  }),
} as const;
export type LastReload = ShapeOf<typeof lastReloadSchema>;

const activeSchema = {
  ...objectOf({
    version,
    digest,
    pages: count('Pages.'),
    bytes: count('Size of the unpacked files.'),
    activatedAt: RFC3339,
  }),
  type: ['object', 'null'],
  description: 'The version that is served.',
} as const;

const storedSchema = {
  title: 'StoredVersion',
  ...objectOf({
    version,
    digest,
    pages: count('Pages.'),
    files: count('Files.'),
    bytes: count('Size of the unpacked files.'),
    source: { enum: BUNDLE_SOURCE_KINDS, description: 'How docshelf received the bundle.' },
    createdAt: RFC3339,
    fetchedAt: RFC3339,
  }),
} as const;

const lastErrorSchema = {
  ...objectOf({
    at: RFC3339,
    code: text('Error code.'),
    message: text('Error in one sentence.'),
    next: textOrNull('Next step.'),
  }),
  type: ['object', 'null'],
  description: 'The last error that is not resolved yet.',
} as const;

/** Status of a daemon. `notices`, `activity`, `startedAt` and `programVersion` are additions to the published contract. */
export const statusSchema = {
  title: 'Status',
  ...objectOf(
    {
      state: { enum: ['ready', 'stale', 'waiting', 'off'] },
      deployment: objectOf({
        type: { enum: DEPLOYMENT_TYPES },
        domain: textOrNull('Identifier of the site; null if the daemon has several sites.'),
      }),
      active: activeSchema,
      pinned: textOrNull('The version that the config pins.'),
      versions: { type: 'array', items: storedSchema, description: 'Stored versions.' },
      lastReload: { ...lastReloadSchema, type: ['object', 'null'] },
      lastError: lastErrorSchema,
      pending: texts('Config keys whose new values need a restart.'),
      search: {
        ...objectOf({
          keyword: { enum: SEARCH_STATES },
          semantic: { enum: SEARCH_STATES },
          sections: count('Number of sections in the index.'),
          embedded: count('Number of sections that have an embedding.'),
        }),
        type: ['object', 'null'],
      },
      jobs: {
        description: 'Static exports.',
        ...objectOf({ queued: count('Waiting exports.'), running: count('Running exports.') }),
      },
      notices: texts('Notices for the operator that are not errors, one sentence each.'),
      activity: textOrNull(
        'Current work, or work that waits to start: `fetching`, `unpacking 2024-06-01.zip`, `waiting to index 2024-06-01.zip`.',
      ),
      startedAt: RFC3339,
      programVersion: text('Version of docshelf itself.'),
    },
    {
      sites: {
        type: 'array',
        description:
          'One object per site, present if the config lists its sites. With several sites, the same fields outside this list are null or empty.',
        items: { type: 'object' },
      },
    },
  ),
} as const;

export const DEPLOY_STATES = statusSchema.properties.state.enum;
export type DeployState = (typeof DEPLOY_STATES)[number];
export type StoredVersion = ShapeOf<typeof storedSchema>;
export type ActiveVersion = ObjectOf<typeof activeSchema>;
export type LastError = ObjectOf<typeof lastErrorSchema> & { readonly code: ErrorCode };
type SearchReport = ObjectOf<typeof statusSchema.properties.search>;
type Nullable = {
  active: ActiveVersion | null;
  lastReload: LastReload | null;
  lastError: LastError | null;
  search: SearchReport | null;
};
type WithoutSites = Omit<ShapeOf<typeof statusSchema>, keyof Nullable | 'sites'> & Readonly<Nullable>;
export type StatusReport = WithoutSites & { readonly sites?: readonly SiteStatusReport[] };
export type SiteReport = Pick<
  WithoutSites,
  'state' | 'deployment' | 'active' | 'pinned' | 'versions' | 'lastError' | 'search' | 'notices' | 'activity'
>;
export type SiteStatusReport = WithoutSites & {
  readonly title: string | null;
  readonly hosts: readonly string[];
  readonly basePath: string;
};

/** Replaces the schema's type with `object`, because TypeBox derives no type from `['object', 'null']`. */
type ObjectOf<Schema> = ShapeOf<Omit<Schema, 'type'> & { readonly type: 'object' }>;
