import { objectOf, type ShapeOf, text } from './shape.ts';

/** Codes of errors in an archive, one per rule. Commands exit with 65, and responses have the HTTP status 422. */
export const ARCHIVE_CODES = [
  'unknown_format',
  'truncated',
  'trailing_garbage',
  'damaged_archive',
  'name_absolute',
  'name_drive',
  'name_unc',
  'name_dotdot',
  'name_backslash',
  'name_control',
  'name_empty',
  'name_not_utf8',
  'name_segment_too_long',
  'name_too_long',
  'name_too_deep',
  'name_duplicate',
  'name_case_conflict',
  'file_folder_conflict',
  'type_symlink',
  'type_hardlink',
  'type_device',
  'type_fifo',
  'type_sparse',
  'type_unknown',
  'folder_with_size',
  'encrypted',
  'zip_method',
  'too_many_entries',
  'file_too_large',
  'total_too_large',
  'ratio_too_high',
  'wrong_crc',
  'wrong_size',
  'zip_overlap',
  'zip_header_mismatch',
  'bad_length',
  'multi_disk',
  'window_too_large',
  'no_pages',
] as const;

/** Codes of errors of a bundle in a valid archive. Commands exit with 65, and responses have the HTTP status 422. */
export const BUNDLE_CODES = [
  'wrong_digest',
  'bad_signature',
  'no_signature',
  'signature_mismatch',
  'bad_manifest',
  'manifest_mismatch',
  'bad_search_data',
  'version_mismatch',
  'domain_mismatch',
  'downgrade',
  'bad_version',
  'release_damaged',
] as const;

/** HTTP status for each error of a download. Commands exit with 69. */
const SOURCE_STATUS = {
  link_expired: 502,
  link_refused: 502,
  bundle_not_found: 502,
  source_failed: 502,
  source_unreachable: 502,
  source_timeout: 504,
  source_truncated: 502,
  source_encoded: 502,
  // Status 413 as for an upload, because the same size limit applies to downloads and uploads.
  source_too_large: 413,
  source_no_length: 502,
  link_of_another_version: 409,
  too_many_redirects: 502,
  host_not_allowed: 502,
  address_not_allowed: 502,
} as const;

/** HTTP status for each error of a service, version, bundle or feature that is unavailable. Commands exit with 69. */
const UNAVAILABLE_STATUS = {
  ...SOURCE_STATUS,
  port_taken: 503,
  cannot_listen: 503,
  version_not_found: 404,
  no_version: 409,
  no_bundle: 409,
  daemon_unreachable: 503,
  database_unavailable: 503,
  embedder_failed: 502,
  index_building: 503,
  // Status 404 instead of 503, because a retry does not help if the feature is off.
  search_off: 404,
  export_off: 404,
  // Status 409, because the request is valid, but conflicts with the state of the domain or job.
  no_source: 409,
  not_completed: 409,
  store_failed: 502,
  link_invalid: 403,
  bundle_link_expired: 403,
  bundle_gone: 410,
  canceled: 409,
  deadline_exceeded: 504,
  export_service_failed: 502,
  job_failed: 502,
  job_timeout: 504,
  browser_missing: 503,
  browser_failed: 503,
  hosted_search_failed: 502,
  rate_limited: 429,
  queue_full: 429,
  busy: 503,
  // Status 503, because docshelf replaces the ended thread or process, so a retry may help.
  worker_ended: 503,
  stopping: 503,
} as const;

const OTHER = {
  usage: { exit: 64, status: 400 },
  site_needed: { exit: 64, status: 400 },
  cannot_write: { exit: 73, status: 503 },
  // Status 507 for a full volume (RFC 4918, section 11.5). Other failed writes get 503, because a retry may help.
  not_enough_space: { exit: 73, status: 507 },
  cannot_read: { exit: 69, status: 503 },
  config_invalid: { exit: 78, status: 422 },
  bad_source: { exit: 65, status: 422 },
  model_invalid: { exit: 78, status: 422 },
  data_folder_newer: { exit: 78, status: 503 },
  data_folder_older: { exit: 78, status: 503 },
  database_unfit: { exit: 78, status: 503 },
  index_damaged: { exit: 69, status: 503 },
  unauthorized: { exit: 77, status: 401 },
  forbidden: { exit: 77, status: 403 },
  pinned: { exit: 69, status: 409 },
  in_use: { exit: 69, status: 409 },
  key_of_config: { exit: 69, status: 409 },
  too_many_keys: { exit: 69, status: 409 },
  not_found: { exit: 69, status: 404 },
  misdirected: { exit: 69, status: 421 },
  method_not_allowed: { exit: 69, status: 405 },
  bad_request: { exit: 64, status: 400 },
  precondition_failed: { exit: 69, status: 412 },
  range_not_satisfiable: { exit: 64, status: 416 },
  payload_too_large: { exit: 64, status: 413 },
  unsupported_media_type: { exit: 64, status: 415 },
  internal: { exit: 70, status: 500 },
} as const;

export const SOURCE_CODES = Object.keys(SOURCE_STATUS) as (keyof typeof SOURCE_STATUS)[];

const FAILED_FETCH: ReadonlySet<string> = new Set([...SOURCE_CODES, 'wrong_digest']);

export const isFetchFault = (code: ErrorCode): boolean => FAILED_FETCH.has(code);

export type ErrorCode =
  | (typeof ARCHIVE_CODES)[number]
  | (typeof BUNDLE_CODES)[number]
  | keyof typeof UNAVAILABLE_STATUS
  | keyof typeof OTHER;

export const ERROR_CODES: readonly ErrorCode[] = [
  ...ARCHIVE_CODES,
  ...BUNDLE_CODES,
  ...(Object.keys({ ...UNAVAILABLE_STATUS, ...OTHER }) as ErrorCode[]),
];

interface ErrorDetail {
  readonly next?: string | undefined;
  /** Data about the error, for programs. Never contains a credential. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

export interface PlainError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly next?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** An expected error. The message has the form `Cannot <act> "<thing>": <state>`. */
export class DocshelfError extends Error {
  override readonly name = 'DocshelfError';
  readonly code: ErrorCode;
  readonly next: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.code = code;
    this.next = detail.next;
    this.fields = detail.fields ?? {};
  }

  toPlain(): PlainError {
    return {
      code: this.code,
      message: this.message,
      ...(this.next === undefined ? {} : { next: this.next }),
      ...(Object.keys(this.fields).length === 0 ? {} : { fields: this.fields }),
    };
  }

  static fromPlain(plain: PlainError): DocshelfError {
    return new DocshelfError(plain.code, plain.message, plain);
  }
}

export function errnoOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

const STATES: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'it does not exist',
  EISDIR: 'it is a folder',
  EACCES: 'it is not readable for the user that docshelf runs as',
  EMFILE: 'docshelf has too many open files',
  ENFILE: 'this machine has too many open files',
};

/** Returns the given advice `next`. If too many files are open, returns the advice to raise this limit instead. */
export function nextFor<Next extends string | undefined>(error: unknown, next: Next): Next | string {
  const errno = errnoOf(error);
  if (errno === 'ENFILE') return 'Raise the limit of open files of this machine (sysctl fs.file-max), then try again.';
  if (errno !== 'EMFILE') return next;
  return 'Raise the limit of open files of docshelf (LimitNOFILE of systemd, ulimit -n), then try again.';
}

export function stateOf(error: unknown): string {
  const errno = errnoOf(error);
  return errno === undefined ? String(error) : (STATES[errno] ?? `it cannot be read (${errno})`);
}

export const errnoState = (error: unknown): string => errnoOf(error) ?? 'failed';

/** Handler for `catch`. Keeps an expected error, and wraps other errors as `Cannot <act>: <state>`. */
export function rethrowAs(code: ErrorCode, act: string, next?: string, state: (error: unknown) => string = stateOf) {
  return (cause: unknown): never => {
    if (cause instanceof DocshelfError) throw cause;
    throw new DocshelfError(code, `Cannot ${act}: ${state(cause)}`, { next: nextFor(cause, next), cause });
  };
}

export function toDocshelfError(error: unknown): DocshelfError {
  if (error instanceof DocshelfError) return error;
  const errno = errnoOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (errno === 'ENOSPC' || errno === 'EDQUOT') {
    return new DocshelfError('cannot_write', `Cannot write to the data folder: the disk is full (${message})`, {
      next: 'Free space on the volume of storage.dir, or enlarge the volume. Then try again.',
      cause: error,
    });
  }
  if (errno === 'EROFS' || errno === 'EACCES' || errno === 'EPERM' || errno === 'ENOTDIR') {
    return new DocshelfError('cannot_write', `Cannot write: ${message}`, {
      next: 'Make storage.dir a folder that the user of docshelf can write to.',
      cause: error,
    });
  }
  if (errno === 'EMFILE' || errno === 'ENFILE') {
    const next = nextFor(error, undefined);
    return new DocshelfError('cannot_read', `Cannot open a file: ${stateOf(error)}`, { next, cause: error });
  }
  return new DocshelfError('internal', message, { cause: error });
}

/** Returns the exit code (sysexits(3)) and the HTTP status of an error. */
function placeOf(code: ErrorCode): { readonly exit: number; readonly status: number } {
  if (code in OTHER) return OTHER[code as keyof typeof OTHER];
  if (code in UNAVAILABLE_STATUS)
    return { exit: 69, status: UNAVAILABLE_STATUS[code as keyof typeof UNAVAILABLE_STATUS] };
  return { exit: 65, status: 422 };
}

export const exitCodeOf = (code: ErrorCode): number => placeOf(code).exit;

export const statusOf = (code: ErrorCode): number => placeOf(code).status;

export const problemSchema = {
  title: 'Problem',
  description: 'Problem document (RFC 9457).',
  ...objectOf(
    {
      type: { const: 'about:blank' },
      title: text('Reason phrase of the HTTP status.'),
      status: { type: 'integer', minimum: 400, maximum: 599 },
      detail: text('Error in one sentence.'),
      error: text('Same text as `detail`.'),
      code: { type: 'string', pattern: '^[a-z0-9_]+$', description: 'Error code, for programs.' },
    },
    { next: text('Next step for the operator or the client.'), requestId: text('Same value as `X-Request-Id`.') },
  ),
} as const;
export type Problem = Omit<ShapeOf<typeof problemSchema>, 'code'> & { readonly code: ErrorCode };
