import { DocshelfError, type ErrorCode } from './errors.ts';
import { type Secret, showName } from './secret.ts';
import { count, objectOf, RFC3339, type ShapeOf, text, textOrNull } from './shape.ts';
import { VERSION_PATTERN } from './version.ts';

export const JOB_STATUSES = ['queued', 'running', 'completed', 'failed'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const isTerminal = (status: JobStatus): boolean => status === 'completed' || status === 'failed';

export const JOB_ID_PATTERN = /^se_[0-9a-f]{16}$/;
export const jobIdSchema = { type: 'string', pattern: JOB_ID_PATTERN.source } as const;
const sha256 = { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the bundle.' } as const;

export const jobSchema = {
  title: 'Job',
  ...objectOf({
    jobId: jobIdSchema,
    domain: { type: 'string', description: 'Domain of the site, even if the request named the site by a host name.' },
    version: textOrNull('Version label of the export; null if the request contained no label.'),
    status: { enum: JOB_STATUSES, description: '`completed` and `failed` are final.' },
    progress: { type: 'number', minimum: 0, maximum: 100, description: 'Percent. It never decreases.' },
    pageCount: count('Number of HTML files exported so far, including 404 pages.'),
    createdAt: RFC3339,
    updatedAt: RFC3339,
    error: textOrNull('Reason of the failure in one sentence; `canceled` if the job was canceled.'),
  }),
} as const;
export type Job = ShapeOf<typeof jobSchema>;

export type JobFault = { readonly code: ErrorCode; readonly message: string; readonly next: string | null };

export const CANCELED: JobFault = { code: 'canceled', message: 'canceled', next: null };

export const jobError = ({ message, next }: JobFault): string => (next === null ? message : `${message}. ${next}`);

export const JOBS_LIMIT_MAX = 100;
export const JOBS_LIMIT_DEFAULT = 20;

export const jobPageSchema = {
  title: 'JobPage',
  ...objectOf({
    jobs: { type: 'array', items: jobSchema, maxItems: JOBS_LIMIT_MAX, description: 'Newest first.' },
    nextCursor: textOrNull('Cursor of the next page; null on the last page.'),
  }),
} as const;
export type JobPage = ShapeOf<typeof jobPageSchema>;

/** Maximum characters of a domain name in text form (RFC 1035, section 2.3.4). */
const DOMAIN_LENGTH_MAX = 253;
/** Maximum characters of a cursor, checked before the cursor is decoded. */
const CURSOR_LENGTH_MAX = 512;
const domainOrHost = (description: string) =>
  ({ type: 'string', minLength: 1, maxLength: DOMAIN_LENGTH_MAX, description }) as const;

export const jobQuerySchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    domain: domainOrHost(
      'Returns only jobs of this site: its domain or one of its full host names. Case does not matter.',
    ),
    status: { type: 'string', enum: JOB_STATUSES, description: 'Returns only jobs with this status.' },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: JOBS_LIMIT_MAX,
      default: JOBS_LIMIT_DEFAULT,
      description: 'Maximum number of jobs.',
    },
    cursor: {
      type: 'string',
      minLength: 1,
      maxLength: CURSOR_LENGTH_MAX,
      description: '`nextCursor` of the previous page.',
    },
  },
} as const;

const PATH_LENGTH_MAX = 4096;
const PATHS_MAX = 10_000;

/**
 * Rejects paths with a host (`//…`), a scheme, lone surrogates, or plain or percent-encoded `..`, backslashes and control
 * characters.
 */
const PATH_PATTERN = new RegExp(
  [
    '^(?!//)(?![A-Za-z][A-Za-z0-9+.\\-]*:)',
    '(?!(?:[\\s\\S]*(?:/|%2[Ff]))?(?:\\.|%2[Ee]){2}(?:/|%2[Ff]|[?#]|$))',
    '(?![\\s\\S]*%(?:[01][0-9A-Fa-f]|7[Ff]|5[Cc]))',
    '[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff\\\\]+$',
  ].join(''),
  'u',
);

export const exportRequestSchema = {
  title: 'ExportRequest',
  type: 'object',
  required: ['domain'],
  additionalProperties: false,
  properties: {
    domain: domainOrHost('The site: its domain or one of its full host names. Case does not matter.'),
    version: {
      type: 'string',
      pattern: VERSION_PATTERN.source,
      description: 'Version label of the export. Without a label, the bundle has no version.',
      'x-expects': 'a version: 1 to 128 letters, digits, ".", "_", "+" or "-", beginning with a letter or digit',
    },
    paths: {
      type: 'array',
      minItems: 1,
      maxItems: PATHS_MAX,
      items: {
        type: 'string',
        minLength: 1,
        maxLength: PATH_LENGTH_MAX,
        pattern: PATH_PATTERN.source,
        'x-expects': 'a path on the site, without scheme, host, "..", backslash and control characters',
      },
      description: 'Paths of the pages to export. Without paths, docshelf exports the whole site.',
    },
  },
} as const;
export type ExportRequestBody = ShapeOf<typeof exportRequestSchema>;

export interface ExportRequest {
  readonly domain: string;
  readonly version: string | null;
  readonly paths: readonly string[] | null;
}

export const bundleLinkSchema = {
  title: 'BundleLink',
  ...objectOf(
    {
      jobId: jobIdSchema,
      bundleUrl: {
        ...text('Presigned link for GET and HEAD. It is a credential: anyone who has it can download the bundle.'),
        format: 'uri',
      },
      sizeBytes: count('Size of the bundle in bytes.'),
      expiresAt: {
        ...RFC3339,
        description: 'Time when the link expires. Repeat the call for a new link. RFC 3339, UTC.',
      },
      sha256,
    },
    { signature: text('Minisign signature of the bundle; absent if bundles are not signed.') },
  ),
} as const;
export type BundleLink = ShapeOf<typeof bundleLinkSchema>;

export interface ExportedBundle {
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Digest of the content. It is also the name of the stored manifest, from which docshelf can pack the same archive again. */
  readonly contentSha256: string;
}

export const bundleFileName = ({ domain, createdAt }: Pick<Job, 'domain' | 'createdAt'>): string =>
  `${domain}-export-${createdAt.slice(0, 10)}.tar.gz`;

/** Maximum findings in a report. Further findings are only counted, because most have the same cause. */
export const FINDINGS_MAX = 1000;

export const exportReportSchema = {
  title: 'ExportReport',
  ...objectOf({
    jobId: jobIdSchema,
    pages: count('Number of exported HTML files.'),
    files: count('Number of exported files.'),
    bytes: count('Size of all files in bytes.'),
    counts: {
      type: 'object',
      additionalProperties: { type: 'integer', minimum: 1 },
      description: 'Number of findings of each kind, including findings that are not in the list.',
    },
    findings: {
      type: 'array',
      maxItems: FINDINGS_MAX,
      description: 'Omissions and problems, in the order of the pages.',
      items: objectOf({
        /** Kind of the finding, such as `broken_reference`, `missing_fragment`, `off_origin_load` or `left_out`. */
        kind: text('Kind of the finding, in lower case with underscores. Later versions may add kinds.'),
        page: text('Path of the page or file with the finding.'),
        detail: text('Description in one line.'),
      }),
    },
  }),
} as const;
export type ExportReport = ShapeOf<typeof exportReportSchema>;
export type Finding = ExportReport['findings'][number];

/** Response in which members other than `Needed` can be null, because export services of other vendors may omit them. */
type Lenient<Shape, Needed extends keyof Shape> = Pick<Shape, Needed> & {
  readonly [Key in Exclude<keyof Shape, Needed>]-?: Exclude<Shape[Key], undefined> | null;
};
export type JobAnswer = Lenient<Job, 'jobId' | 'status'>;
export type BundleAnswer = Omit<Lenient<BundleLink, 'jobId'>, 'bundleUrl'> & { readonly bundleUrl: Secret };

export type StoredContent = { readonly sha256: string; readonly size: number; readonly type: string };

/** Receives the files of a site in any order. A source must not add a path twice. */
export interface SiteSink {
  /** @throws DocshelfError `bad_source` for a path that archives do not allow */
  add(path: string, content: Uint8Array | { readonly file: string } | StoredContent): Promise<void>;
  find(finding: Finding): void;
  progress(done: number, total: number): void;
}

/** Adds the files of a site to `sink`. @throws DocshelfError `bad_source` if the source is empty or unreadable; the signal's reason */
export type SiteSource = (request: ExportRequest, sink: SiteSink, signal: AbortSignal) => Promise<void>;

export const badSource = (path: string, state: string, next: string, cause?: unknown): DocshelfError =>
  new DocshelfError('bad_source', `Cannot export "${showName(path)}": ${state}`, { next, cause });
