import { DEPLOYMENT_TYPES } from '../../domain/deployment.ts';
import { FEATURES } from '../../domain/feature.ts';
import { text, textOrNull } from '../../domain/shape.ts';
import { digest, version } from '../../domain/status.ts';

/** What calls of the admin listener answer besides the status. */

export const releaseSchema = {
  title: 'Release',
  type: 'object',
  required: ['version', 'digest'],
  properties: { version, digest },
} as const;
export const previewSchema = {
  title: 'Preview',
  type: 'object',
  required: ['version', 'digest', 'link', 'expiresAt'],
  properties: {
    version,
    digest,
    link: text('It sets a cookie and leads to the version.'),
    expiresAt: text('RFC 3339, UTC.'),
  },
} as const;
const comparedPages = <More extends object>(description: string, more: More) =>
  ({
    type: 'array',
    description: `${description}; at most 500.`,
    items: {
      type: 'object',
      required: ['page', 'title'],
      properties: { page: text('Path inside the site.'), title: text('Of the page.'), ...more },
    },
  }) as const;
const pageCount = { type: 'integer', minimum: 0 } as const;
export const diffSchema = {
  title: 'VersionsDiff',
  type: 'object',
  required: ['before', 'after', 'added', 'removed', 'moved', 'changed', 'unchanged', 'leftOut'],
  properties: {
    before: version,
    after: version,
    added: comparedPages('That only `after` has', {}),
    removed: comparedPages('That only `before` has', {}),
    moved: comparedPages('With the same text at another address', { from: text('Path before.') }),
    changed: comparedPages('With another main text', {
      wordsAdded: { ...pageCount, description: 'Both counts are 0 for a page of more than 2 MiB.' },
      wordsRemoved: pageCount,
    }),
    unchanged: { ...pageCount, description: 'Pages with the same main text.' },
    leftOut: {
      type: 'object',
      description: 'How many of each list there are beside those.',
      required: ['added', 'removed', 'moved', 'changed'],
      properties: { added: pageCount, removed: pageCount, moved: pageCount, changed: pageCount },
    },
  },
} as const;
export const takenInSchema = {
  title: 'TakenIn',
  type: 'object',
  required: ['version', 'digest', 'activated', 'unpacked'],
  properties: {
    version,
    digest,
    activated: { type: 'boolean', description: 'True where it is served now.' },
    unpacked: { type: 'boolean', description: 'False where the site had its bytes before.' },
    moved: { ...digest, description: 'Digest that the label led to before; absent where it led nowhere else.' },
  },
} as const;
export const readinessSchema = {
  title: 'Readiness',
  type: 'object',
  required: ['ready', 'reason'],
  properties: { ready: { type: 'boolean' }, reason: textOrNull('Why not, one sentence.') },
} as const;
const featureRows = {
  type: 'array',
  items: {
    type: 'object',
    required: ['id', 'name', 'support', 'enabled', 'reason'],
    properties: {
      id: { enum: FEATURES.map(({ id }) => id) },
      name: text('For people.'),
      support: { enum: ['available', 'configurable', 'unavailable'] },
      enabled: { type: 'boolean', description: 'What holds here and now.' },
      reason: text('Why, one sentence.'),
    },
  },
} as const;
export const featuresSchema = {
  title: 'Features',
  type: 'object',
  required: ['deploymentType', 'domain', 'features'],
  properties: {
    deploymentType: { enum: DEPLOYMENT_TYPES },
    domain: textOrNull('Identifier of the site; null with several.'),
    features: featureRows,
    sites: {
      type: 'array',
      description: 'Of each site of a list: `domain` and `features`, which beside it are null and empty with several.',
      items: { type: 'object', required: ['domain', 'features'] },
    },
  },
} as const;
