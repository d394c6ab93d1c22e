import { DEPLOYMENT_TYPES } from '../../domain/deployment.ts';
import { FEATURES } from '../../domain/feature.ts';
import { type Operation, type UnnamedOperation, withIds } from '../../domain/operation.ts';
import { objectOf, text, textOrNull } from '../../domain/shape.ts';
import { digest, lastReloadSchema, statusSchema, version } from '../../domain/status.ts';
import { VERSION_PATTERN } from '../../domain/version.ts';
import { auditPageSchema } from '../audit/audit.ts';
import { acting, health, jobOperations, keyOperations, secret, state } from './service-operations.ts';

const releaseSchema = { title: 'Release', ...objectOf({ version, digest }) } as const;
const previewSchema = {
  title: 'Preview',
  ...objectOf({
    version,
    digest,
    link: text('Link that sets a cookie and redirects to the version.'),
    expiresAt: text('Time in RFC 3339, UTC.'),
  }),
} as const;
const comparedPages = <More extends Readonly<Record<string, object>>>(description: string, more: More) =>
  ({
    type: 'array',
    description: `${description}; at most 500.`,
    items: objectOf({ page: text('Path in the site.'), title: text('Title of the page.') }, more),
  }) as const;
const pageCount = { type: 'integer', minimum: 0 } as const;
const diffSchema = {
  title: 'VersionsDiff',
  ...objectOf({
    before: version,
    after: version,
    added: comparedPages('Pages that exist only in `after`', {}),
    removed: comparedPages('Pages that exist only in `before`', {}),
    moved: comparedPages('Pages with the same text at another address', { from: text('Path in `before`.') }),
    changed: comparedPages('Pages with a different main text', {
      wordsAdded: { ...pageCount, description: '`wordsAdded` and `wordsRemoved` are 0 for a page of more than 2 MiB.' },
      wordsRemoved: pageCount,
    }),
    unchanged: { ...pageCount, description: 'Pages with the same main text.' },
    leftOut: {
      description: 'Number of pages that each list omits.',
      ...objectOf({ added: pageCount, removed: pageCount, moved: pageCount, changed: pageCount }),
    },
  }),
} as const;
export const importedSchema = {
  title: 'ImportedBundle',
  ...objectOf(
    {
      version,
      digest,
      activated: { type: 'boolean', description: 'True if the version is active now.' },
      unpacked: { type: 'boolean', description: 'False if the site already stored the same bytes.' },
    },
    {
      moved: {
        ...digest,
        description: 'Previous digest of the version label. Absent if the label is new or unchanged.',
      },
    },
  ),
} as const;
const readinessSchema = {
  title: 'Readiness',
  ...objectOf({
    ready: { type: 'boolean' },
    reason: textOrNull('Reason why the daemon is not ready, in one sentence.'),
  }),
} as const;
const featureRows = {
  type: 'array',
  items: objectOf({
    id: { enum: FEATURES.map(({ id }) => id) },
    name: text('Name for people.'),
    support: { enum: ['available', 'configurable', 'unavailable'] },
    enabled: { type: 'boolean', description: 'Whether the feature is on in this daemon now.' },
    reason: text('Reason, in one sentence.'),
  }),
} as const;
const featuresSchema = {
  title: 'Features',
  ...objectOf(
    {
      deploymentType: { enum: DEPLOYMENT_TYPES },
      domain: textOrNull('Domain of the site. Null if there are several.'),
      features: featureRows,
    },
    {
      sites: {
        type: 'array',
        description:
          '`domain` and `features` of each site. With several sites, the outer `domain` is null and `features` is empty.',
        items: { type: 'object', required: ['domain', 'features'] },
      },
    },
  ),
} as const;

export const AUDIT_LIMIT_DEFAULT = 100;

const LIMIT = {
  type: 'integer',
  minimum: 1,
  maximum: 1000,
  description: `Maximum number of lines per page. Default: ${AUDIT_LIMIT_DEFAULT}.`,
} as const;
const BEFORE = {
  type: 'string',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$',
  'x-expects': 'the `before` value of the previous page',
  description: '`before` value of the previous page.',
} as const;

const auditOperation = {
  ...secret,
  tag: { name: 'Audit', description: 'Changes, with their author and result.' },
  path: '/v1/audit',
  summary: 'List changes, newest first',
  query: { type: 'object', properties: { limit: LIMIT, before: BEFORE }, additionalProperties: false },
  answers: { 200: { description: 'A page of audit lines.', schema: auditPageSchema } },
} as const satisfies UnnamedOperation;

const NO_SITE = {
  code: 'not_found',
  description: 'The site does not exist.',
  message: 'Cannot find the site "acme": this daemon has no such site',
} as const;

/** Returns the operation with the site's domain in its path. An empty list if it is not about versions or bundles. */
export function perSite(operation: Operation): Operation[] {
  const { id, path, parameters, faults = [] } = operation;
  if (!/^\/v1\/(?:versions|bundles|rollback|diff)/.test(path)) return [];
  const summary = `${operation.summary} (if the daemon has several sites)`;
  const domain = { description: 'Domain of the site.', schema: text('A domain.'), example: 'acme' };
  return [
    {
      ...operation,
      id: `${id}OfSite`,
      path: sitePath(path),
      summary,
      parameters: { domain, ...parameters },
      faults: [...faults, NO_SITE],
    },
  ];
}

export const sitePath = (path: string): `/${string}` => `/v1/sites/{domain}${path.slice('/v1'.length)}`;

export const ADMIN_INFO = {
  title: 'docshelf admin listener',
  description:
    'Health, status, metrics and actions of a daemon. Errors are problem documents (RFC 9457) with a `code`.',
} as const;

const VERSION = {
  description: 'A version label.',
  schema: { type: 'string', pattern: VERSION_PATTERN.source },
  example: '2024-06-01',
} as const;
const FILE_NAME = {
  description: 'A plain file name of at most 255 bytes. The end of the name can contain the version.',
  schema: { type: 'string' },
  example: 'acme-export-2024-06-01.tar.gz',
} as const;

const ACTIVATE = {
  type: 'string',
  enum: ['true', 'false'],
  description: '`false` stores the version without activating it.',
} as const;
const LABEL = {
  type: 'string',
  pattern: VERSION_PATTERN.source,
  'x-expects': 'a version such as 2024-06-01 or v3.2.0',
  description: 'Version label of the import.',
} as const;
const STORED = { ...LABEL, description: 'A stored version.' } as const;

const badName = {
  code: 'bad_request',
  description: 'A name or parameter is invalid. The message states which one.',
  message: 'Cannot read "version": it is not 1 to 128 letters, digits, ".", "_", "+" or "-"',
} as const;
const notStored = {
  code: 'version_not_found',
  description: 'The version is not stored.',
  message: 'Cannot find version "v9": it is not stored',
} as const;
const pinned = {
  code: 'pinned',
  description: 'The config pins another version.',
  message: 'Cannot roll back: the config pins version "v3.2.0"',
} as const;
const activeNow = { 200: { description: 'The version that is active now.', schema: releaseSchema } } as const;

/** Header with the identity of the data folder, which a command sends with each call to the daemon's socket. */
export const FOLDER_HEADER = 'docshelf-folder';

/** Path of the last valid config, used while the config file is invalid. Only the socket serves it: a config can contain secrets. */
export const LAST_GOOD_PATH = '/v1/config';

/** API calls of the admin listener and of the daemon's socket. For a new call, add its handler in `actions.ts`. */
export const operations = withIds({
  live: {
    ...health,
    path: '/livez',
    summary: 'Check whether the process runs',
    answers: { 200: { description: '`ok`', type: 'text/plain' } },
  },
  ready: {
    ...health,
    path: '/readyz',
    summary: 'Check whether readers get pages',
    answers: {
      200: { description: 'Readers get pages.', schema: readinessSchema },
      503: { description: 'Readers get no pages.', schema: readinessSchema },
    },
  },
  metrics: {
    ...health,
    path: '/metrics',
    summary: 'Show the metrics for Prometheus',
    answers: { 200: { description: 'Metrics in the Prometheus text format.', type: 'text/plain' } },
  },
  status: {
    ...state,
    path: '/v1/status',
    summary: 'Show the status',
    answers: { 200: { description: 'The status.', schema: statusSchema } },
  },
  features: {
    ...state,
    path: '/v1/features',
    summary: 'Show the features of this deployment',
    answers: { 200: { description: 'The features.', schema: featuresSchema } },
  },
  openapi: {
    ...state,
    path: '/openapi.json',
    summary: 'Describe this API',
    answers: { 200: { description: 'This document.', type: 'application/json' } },
  },
  reload: {
    ...acting,
    method: 'POST',
    path: '/v1/reload',
    summary: 'Reload the config',
    answers: { 200: { description: 'The config was reloaded.', schema: lastReloadSchema } },
    faults: [
      {
        code: 'config_invalid',
        description: 'The config is invalid. The previous config stays in use.',
        message: 'Cannot use the config "config.yaml": config.yaml:3:1: unknown key "servr"',
      },
    ],
  },
  activate: {
    ...acting,
    method: 'POST',
    path: '/v1/versions/{version}/activate',
    summary: 'Activate a stored version',
    parameters: { version: VERSION },
    answers: activeNow,
    faults: [badName, notStored, pinned],
  },
  preview: {
    ...acting,
    method: 'POST',
    path: '/v1/versions/{version}/preview',
    summary: 'Create a preview link for a stored version',
    description:
      'The link opens the version for one day. Anyone who has the link can read the version. The version does not appear in any list.',
    parameters: { version: VERSION },
    answers: { 200: { description: 'The preview link. It is a credential.', schema: previewSchema } },
    faults: [badName, notStored],
  },
  diff: {
    ...secret,
    path: '/v1/diff',
    summary: 'Compare two stored versions',
    description:
      'Compares the main text of pages. docshelf runs one comparison at a time, in a separate thread, for at most two minutes.',
    query: { ...objectOf({ from: STORED, to: STORED }), additionalProperties: false },
    answers: { 200: { description: 'The pages, in the format of `docshelf bundle diff --json`.', schema: diffSchema } },
    faults: [
      badName,
      notStored,
      {
        code: 'busy',
        description: 'Another comparison is running.',
        message: 'Cannot compare the versions now: another comparison is running',
      },
      {
        code: 'deadline_exceeded',
        description: 'The comparison takes too long. The command `docshelf bundle diff` has no time limit.',
        message: 'Cannot compare the versions: it takes longer than 120 s',
      },
    ],
  },
  rollback: {
    ...acting,
    method: 'POST',
    path: '/v1/rollback',
    summary: 'Roll back to the previously active version',
    answers: activeNow,
    faults: [pinned],
  },
  remove: {
    ...acting,
    method: 'DELETE',
    path: '/v1/versions/{version}',
    summary: 'Delete a stored version',
    parameters: { version: VERSION },
    answers: { 204: { description: 'The version was deleted.' } },
    faults: [badName, notStored, { ...pinned, description: 'The version is pinned or in use.' }],
  },
  uploadSignature: {
    ...acting,
    method: 'PUT',
    path: '/v1/bundles/{fileName}.minisig',
    summary: 'Upload the minisign signature of the next archive',
    description: 'docshelf stores the signature for 10 minutes, under the name of the archive.',
    parameters: { fileName: FILE_NAME },
    upload: { type: 'text/plain', description: 'Content of the .minisig file, at most 20,000 bytes.' },
    answers: { 204: { description: 'The signature was stored.' } },
    faults: [
      badName,
      {
        code: 'payload_too_large',
        description: 'The signature is larger than 20,000 bytes.',
        message: 'Cannot store the signature: it is larger than 20000 bytes',
      },
    ],
  },
  upload: {
    ...acting,
    method: 'PUT',
    path: '/v1/bundles/{fileName}',
    summary: 'Upload an archive',
    parameters: { fileName: FILE_NAME },
    query: { type: 'object', properties: { version: LABEL, activate: ACTIVATE }, additionalProperties: false },
    upload: { type: 'application/octet-stream', description: '.tar, .tar.gz, .tar.zst or .zip' },
    answers: { 201: { description: 'The archive was imported.', schema: importedSchema } },
    faults: [
      badName,
      {
        code: 'bad_signature',
        description: 'The archive was rejected. `code` names the rule.',
        message:
          'Cannot trust "acme-export-2024-06-01.tar.gz": its signature with key 59A5C1C4DB1B1E9F does not match the content',
      },
    ],
  },
  ...keyOperations,
  audit: auditOperation,
  ...jobOperations,
});

export type OperationId = keyof typeof operations;
