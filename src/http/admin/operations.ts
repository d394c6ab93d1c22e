import { DEPLOYMENT_TYPES } from '../../domain/deployment.ts';
import { FEATURES } from '../../domain/feature.ts';
import type { Operation } from '../../domain/operation.ts';
import { text, textOrNull } from '../../domain/shape.ts';
import { digest, lastReloadSchema, statusSchema, version } from '../../domain/status.ts';
import { VERSION_PATTERN } from '../../domain/version.ts';
import { auditPageSchema } from '../audit/audit.ts';
import { acting, health, jobOperations, keyOperations, secret, state } from './service-operations.ts';

/** Calls of the admin listener and of a daemon's socket (contract, section 2). A new call needs its `run` in `actions.ts`. */

const releaseSchema = {
  title: 'Release',
  type: 'object',
  required: ['version', 'digest'],
  properties: { version, digest },
} as const;
const previewSchema = {
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
const diffSchema = {
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
export const importedSchema = {
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
const readinessSchema = {
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
const featuresSchema = {
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

export const AUDIT_LIMIT_DEFAULT = 100;

const LIMIT = {
  type: 'integer',
  minimum: 1,
  maximum: 1000,
  description: `Lines of a page; ${AUDIT_LIMIT_DEFAULT} by default.`,
} as const;
const BEFORE = {
  type: 'string',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$',
  'x-expects': 'the time that the page before gave',
  description: '`before` of the page before.',
} as const;

const auditOperation = {
  ...secret,
  tag: { name: 'Audit', description: 'Who changed what.' },
  id: 'audit',
  path: '/v1/audit',
  summary: 'List changes, newest first',
  query: {
    type: 'object',
    properties: {
      limit: LIMIT,
      before: BEFORE,
    },
    additionalProperties: false,
  },
  answers: { 200: { description: 'The lines.', schema: auditPageSchema } },
} as const satisfies Operation;

const NO_SITE = {
  code: 'not_found',
  description: 'No such site.',
  message: 'Cannot find the site "acme": this daemon has none of that domain',
} as const;

/** Calls about versions or bundles exist twice: for the only site, and for each site by its domain (contract, section 2.1). */
export function perSite(operation: Operation): Operation[] {
  const { id, path, parameters, faults = [] } = operation;
  if (!/^\/v1\/(?:versions|bundles|rollback|diff)/.test(path)) return [];
  const summary = `${operation.summary}, of one of several sites`;
  const domain = { description: 'The domain of the site.', schema: text('A domain.'), example: 'acme' };
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

export function sitePath(path: string): `/${string}` {
  return `/v1/sites/{domain}${path.slice('/v1'.length)}`;
}

export const ADMIN_INFO = {
  title: 'docshelf admin listener',
  description:
    'Health, status and metrics of a daemon, and what it can be told to do. Faults are problem documents (RFC 9457) with a `code`.',
} as const;

const VERSION = {
  description: 'A version label.',
  schema: { type: 'string', pattern: VERSION_PATTERN.source },
  example: '2024-06-01',
} as const;
const FILE_NAME = {
  description: 'A plain file name of at most 255 bytes: what ends it may say the version.',
  schema: { type: 'string' },
  example: 'acme-export-2024-06-01.tar.gz',
} as const;

const DIGEST = { ...digest, 'x-expects': '64 lower-case hex digits' } as const;
const ACTIVATE = { type: 'string', enum: ['true', 'false'], description: '`false`: it is only stored.' } as const;
const LABEL = {
  type: 'string',
  pattern: VERSION_PATTERN.source,
  'x-expects': 'a version such as 2024-06-01 or v3.2.0',
  description: 'The version that it is taken in for.',
} as const;
const STORED = { ...LABEL, description: 'A stored version.' } as const;

const badName = {
  code: 'bad_request',
  description: 'A name or a parameter that is none; the message says which.',
  message: 'Cannot read "version": it is not 1 to 128 letters, digits, ".", "_", "+" or "-"',
} as const;
const notStored = {
  code: 'version_not_found',
  description: 'No such version is stored.',
  message: 'Cannot find version "v9": it is not stored',
} as const;
const pinned = {
  code: 'pinned',
  description: 'The config pins another version.',
  message: 'Cannot roll back: the config pins version "v3.2.0"',
} as const;
const activeNow = { 200: { description: 'What is active now.', schema: releaseSchema } } as const;

/** Header with the data folder of a command, in its requests to the socket. */
export const FOLDER_HEADER = 'docshelf-folder';

/** Path of the current config, for commands while its file is invalid. Only the socket serves it, because it can contain credentials. */
export const LAST_GOOD_PATH = '/v1/config';

export const operations = {
  live: {
    ...health,
    id: 'live',
    path: '/livez',
    summary: 'Check whether the process runs',
    answers: { 200: { description: '`ok`', type: 'text/plain' } },
  },
  ready: {
    ...health,
    id: 'ready',
    path: '/readyz',
    summary: 'Check whether readers get pages',
    answers: {
      200: { description: 'They do.', schema: readinessSchema },
      503: { description: 'They do not.', schema: readinessSchema },
    },
  },
  metrics: {
    ...health,
    id: 'metrics',
    path: '/metrics',
    summary: 'Show the metrics, for Prometheus',
    answers: { 200: { description: 'The text format of Prometheus.', type: 'text/plain' } },
  },
  status: {
    ...state,
    id: 'status',
    path: '/v1/status',
    summary: 'Show the status',
    answers: { 200: { description: 'The status.', schema: statusSchema } },
  },
  features: {
    ...state,
    id: 'features',
    path: '/v1/features',
    summary: 'Show the features of this deployment',
    answers: { 200: { description: 'The features.', schema: featuresSchema } },
  },
  openapi: {
    ...state,
    id: 'openapi',
    path: '/openapi.json',
    summary: 'Describe this interface',
    answers: { 200: { description: 'This document.', type: 'application/json' } },
  },
  reload: {
    ...acting,
    id: 'reload',
    method: 'POST',
    path: '/v1/reload',
    summary: 'Reload the config',
    answers: { 200: { description: 'It was taken.', schema: lastReloadSchema } },
    faults: [
      {
        code: 'config_invalid',
        description: 'The config has faults; what was served goes on.',
        message: 'Cannot use the config "config.yaml": config.yaml:3:1: unknown key "servr"',
      },
    ],
  },
  activate: {
    ...acting,
    id: 'activate',
    method: 'POST',
    path: '/v1/versions/{version}/activate',
    summary: 'Activate a stored version',
    parameters: { version: VERSION },
    answers: activeNow,
    faults: [badName, notStored, pinned],
  },
  preview: {
    ...acting,
    id: 'preview',
    method: 'POST',
    path: '/v1/versions/{version}/preview',
    summary: 'Create a preview link for a stored version',
    description: 'Whoever has the link reads that version for a day. It is in no list, and nothing else opens it.',
    parameters: { version: VERSION },
    answers: { 200: { description: 'The link, a credential.', schema: previewSchema } },
    faults: [badName, notStored],
  },
  diff: {
    ...secret,
    id: 'diff',
    path: '/v1/diff',
    summary: 'Compare two stored versions',
    description:
      'By their main text. Comparisons are made one by one, each in a thread of its own, within two minutes.',
    query: {
      type: 'object',
      required: ['from', 'to'],
      properties: { from: STORED, to: STORED },
      additionalProperties: false,
    },
    answers: { 200: { description: 'The pages, as `docshelf bundle diff --json` has them.', schema: diffSchema } },
    faults: [
      badName,
      notStored,
      {
        code: 'busy',
        description: 'Others are being compared.',
        message: 'Cannot compare the versions now: others are being compared',
      },
      {
        code: 'deadline_exceeded',
        description: 'The versions are too large for it; the command takes its time.',
        message: 'Cannot compare the versions: it takes longer than 120 s',
      },
    ],
  },
  takeUp: {
    ...acting,
    id: 'takeUp',
    method: 'POST',
    path: '/v1/versions/{version}/take-up',
    summary: 'Use a version that a command stored while the daemon started',
    parameters: { version: VERSION },
    query: {
      type: 'object',
      required: ['digest'],
      properties: {
        digest: DIGEST,
        activate: ACTIVATE,
      },
      additionalProperties: false,
    },
    answers: {
      200: {
        description: 'What became of it.',
        schema: { type: 'object', required: ['activated'], properties: { activated: { type: 'boolean' } } },
      },
    },
    faults: [badName, notStored],
  },
  rollback: {
    ...acting,
    id: 'rollback',
    method: 'POST',
    path: '/v1/rollback',
    summary: 'Roll back to the version that was active before',
    answers: activeNow,
    faults: [pinned],
  },
  remove: {
    ...acting,
    id: 'remove',
    method: 'DELETE',
    path: '/v1/versions/{version}',
    summary: 'Delete a stored version',
    parameters: { version: VERSION },
    answers: { 204: { description: 'It is gone.' } },
    faults: [badName, notStored, { ...pinned, description: 'It is pinned, or in use.' }],
  },
  uploadSignature: {
    ...acting,
    id: 'uploadSignature',
    method: 'PUT',
    path: '/v1/bundles/{fileName}.minisig',
    summary: 'Upload the minisign signature of the next archive',
    description: 'It is kept for 10 minutes, by the name of the archive.',
    parameters: { fileName: FILE_NAME },
    upload: { type: 'text/plain', description: 'The text of the .minisig file, at most 20,000 bytes.' },
    answers: { 204: { description: 'It is kept.' } },
    faults: [
      badName,
      {
        code: 'payload_too_large',
        description: 'It is larger.',
        message: 'Cannot take the signature: it is larger than 20000 bytes',
      },
    ],
  },
  upload: {
    ...acting,
    id: 'upload',
    method: 'PUT',
    path: '/v1/bundles/{fileName}',
    summary: 'Upload an archive',
    parameters: { fileName: FILE_NAME },
    query: {
      type: 'object',
      properties: {
        version: LABEL,
        activate: ACTIVATE,
      },
      additionalProperties: false,
    },
    upload: { type: 'application/octet-stream', description: '.tar, .tar.gz, .tar.zst or .zip' },
    answers: { 201: { description: 'It is stored.', schema: importedSchema } },
    faults: [
      badName,
      {
        code: 'bad_signature',
        description: 'The archive is refused; `code` says by which rule.',
        message: 'Cannot trust "acme-export-2024-06-01.tar.gz": its signature does not hold',
      },
    ],
  },
  ...keyOperations,
  audit: auditOperation,
  ...jobOperations,
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationId = keyof typeof operations;
