import { type ExportReport, FINDINGS_MAX, JOB_ID_PATTERN, JOB_STATUSES, type Job } from '../domain/job.ts';
import { VERSION_PATTERN } from '../domain/version.ts';
import type { BundleLink, JobPage } from '../export/index.ts';

/**
 * The words of the static export API (contract, section 6) as JSON Schema, in the part of it that draft 7 and 2020-12
 * share: requests are checked with them, and the OpenAPI document is made of them.
 */

export const JOBS_LIMIT_MAX = 100;
export const JOBS_LIMIT_DEFAULT = 20;
export const PATHS_MAX = 10_000;
/** What archives allow (`limits.ts`). */
const PATH_LENGTH_MAX = 4096;
/** RFC 1035, section 2.3.4, in its textual form. */
const DOMAIN_LENGTH_MAX = 253;
/** Cursors are ours; this bounds what is decoded. */
const CURSOR_LENGTH_MAX = 512;

/**
 * A path on the site, from its root whether it begins with `/` or not. The escapes are looked at as well, since whoever
 * resolves the path may decode it: no host (`//…`), no scheme, no segment `..`, no backslash, no control character, and no
 * half of a surrogate pair.
 */
export const PATH_PATTERN = new RegExp(
  [
    '^(?!//)(?![A-Za-z][A-Za-z0-9+.\\-]*:)',
    '(?!(?:[\\s\\S]*(?:/|%2[Ff]))?(?:\\.|%2[Ee]){2}(?:/|%2[Ff]|[?#]|$))',
    '(?![\\s\\S]*%(?:[01][0-9A-Fa-f]|7[Ff]|5[Cc]))',
    '[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff\\\\]+$',
  ].join(''),
  'u',
);

const domain = {
  type: 'string',
  minLength: 1,
  maxLength: DOMAIN_LENGTH_MAX,
  description: 'The site: its domain or one of its full host names, in any case.',
};

export const exportRequestSchema = {
  type: 'object',
  required: ['domain'],
  additionalProperties: false,
  properties: {
    domain,
    version: {
      type: 'string',
      pattern: VERSION_PATTERN.source,
      description: 'Label of the export. Without it the bundle has none of its own.',
    },
    paths: {
      type: 'array',
      minItems: 1,
      maxItems: PATHS_MAX,
      items: { type: 'string', minLength: 1, maxLength: PATH_LENGTH_MAX, pattern: PATH_PATTERN.source },
      description: 'Paths of the pages that the export is limited to. Without it, the whole site.',
    },
  },
};

/** A request as a client writes it, after its check. */
export interface WrittenExportRequest {
  readonly domain: string;
  readonly version?: string;
  readonly paths?: readonly string[];
}

/** The parameters of `GET /jobs`. */
export const jobQuerySchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    domain: { ...domain, description: `Only jobs of this site. ${domain.description.replace('The site: its', 'Its')}` },
    status: { type: 'string', enum: JOB_STATUSES, description: 'Only jobs with this status.' },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: JOBS_LIMIT_MAX,
      default: JOBS_LIMIT_DEFAULT,
      description: 'Jobs at the most.',
    },
    cursor: {
      type: 'string',
      minLength: 1,
      maxLength: CURSOR_LENGTH_MAX,
      description: 'The `nextCursor` of the page before.',
    },
  },
};

export const jobIdSchema = { type: 'string', pattern: JOB_ID_PATTERN.source };
const time = { type: 'string', format: 'date-time', description: 'RFC 3339, UTC.' };
const count = (description: string) => ({ type: 'integer', minimum: 0, description });
const sha256 = { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the bundle.' };

export const jobSchema = {
  type: 'object',
  required: [
    'jobId',
    'domain',
    'version',
    'status',
    'progress',
    'pageCount',
    'createdAt',
    'updatedAt',
    'error',
  ] satisfies (keyof Job)[],
  properties: {
    jobId: jobIdSchema,
    domain: { type: 'string', description: "The site's domain, however it was asked for." },
    version: { type: ['string', 'null'], description: 'Label of the export; null where none was given.' },
    status: { enum: JOB_STATUSES, description: '`completed` and `failed` are final, the others are not.' },
    progress: { type: 'number', minimum: 0, maximum: 100, description: 'In percent. Never falls.' },
    pageCount: count('HTML files exported so far, 404 pages among them.'),
    createdAt: time,
    updatedAt: time,
    error: {
      type: ['string', 'null'],
      description: 'Why it failed, one sentence; `canceled` where it was asked to stop.',
    },
  },
};

export const jobPageSchema = {
  type: 'object',
  required: ['jobs', 'nextCursor'] satisfies (keyof JobPage)[],
  properties: {
    jobs: { type: 'array', items: jobSchema, maxItems: JOBS_LIMIT_MAX, description: 'Newest first.' },
    nextCursor: { type: ['string', 'null'], description: 'For the next page; null where there is none.' },
  },
};

export const bundleLinkSchema = {
  type: 'object',
  required: ['jobId', 'bundleUrl', 'sizeBytes', 'expiresAt', 'sha256'] satisfies (keyof BundleLink)[],
  properties: {
    jobId: jobIdSchema,
    bundleUrl: {
      type: 'string',
      format: 'uri',
      description: 'Presigned link for GET and HEAD. It is a credential: whoever has it may download the bundle.',
    },
    sizeBytes: count('Bytes of the bundle.'),
    expiresAt: { ...time, description: 'When the link ends; ask again for a fresh one. RFC 3339, UTC.' },
    sha256,
    signature: { type: 'string', description: 'Of the bundle, by minisign; absent where bundles are not signed.' },
  },
};

export const exportReportSchema = {
  type: 'object',
  required: ['jobId', 'pages', 'files', 'bytes', 'counts', 'findings'] satisfies (keyof ExportReport)[],
  properties: {
    jobId: jobIdSchema,
    pages: count('HTML files that were exported.'),
    files: count('Files that were exported.'),
    bytes: count('Bytes of all files.'),
    counts: {
      type: 'object',
      additionalProperties: { type: 'integer', minimum: 1 },
      description: 'How many findings of each kind there are, those that the list leaves out included.',
    },
    findings: {
      type: 'array',
      maxItems: FINDINGS_MAX,
      description: 'What was left out or found wrong, in the order of the pages.',
      items: {
        type: 'object',
        required: ['kind', 'page', 'detail'],
        properties: {
          kind: { type: 'string', description: 'Lower case with underscores; more may join.' },
          page: { type: 'string', description: 'Path of the page or file that it was found on.' },
          detail: { type: 'string', description: 'What, in one line.' },
        },
      },
    },
  },
};
