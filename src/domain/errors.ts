/**
 * Faults that a person may see have a `code` of this closed union; the same code stands in `lastError`, problem documents,
 * metrics, the log and the runbook. Nobody parses messages.
 */

/** Faults of an archive: one code a rule, so that a refusal names the rule. Exit code 65. */
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

/** Faults of a bundle as a whole, its archive being sound. Exit code 65. */
export const BUNDLE_CODES = [
  'wrong_digest',
  'bad_signature',
  'no_signature',
  'bad_manifest',
  'manifest_mismatch',
  'bad_search_data',
  'version_mismatch',
  'domain_mismatch',
  'bad_version',
  'release_damaged',
] as const;

/** Failed downloads. Exit code 69. */
export const SOURCE_CODES = [
  'link_expired',
  'link_refused',
  'bundle_not_found',
  'source_failed',
  'source_unreachable',
  'source_timeout',
  'source_truncated',
  'source_encoded',
  'source_too_large',
  'source_no_length',
  'link_of_another_version',
  'too_many_redirects',
  'host_not_allowed',
  'address_not_allowed',
] as const;

/** Something needed is missing or does not answer. Exit code 69. */
export const UNAVAILABLE_CODES = [
  ...SOURCE_CODES,
  'port_taken',
  'cannot_listen',
  'version_not_found',
  'no_version',
  'no_bundle',
  'daemon_unreachable',
  'embedder_failed',
  'index_building',
  'search_off',
  'export_off',
  'no_source',
  'not_completed',
  'store_failed',
  'link_invalid',
  'bundle_link_expired',
  'bundle_gone',
  'canceled',
  'deadline_exceeded',
  'export_service_failed',
  'job_failed',
  'job_timeout',
  'browser_missing',
  'browser_failed',
  'hosted_search_failed',
  'rate_limited',
  'queue_full',
  'busy',
  'stopping',
] as const;

export const OTHER_CODES = [
  'usage',
  'cannot_write',
  'not_enough_space',
  'cannot_read',
  'config_invalid',
  'config_not_built',
  'bad_source',
  'model_invalid',
  'data_folder_newer',
  'data_folder_older',
  'index_damaged',
  'unauthorized',
  'forbidden',
  'pinned',
  'in_use',
  'not_found',
  'method_not_allowed',
  'bad_request',
  'precondition_failed',
  'range_not_satisfiable',
  'payload_too_large',
  'unsupported_media_type',
  'internal',
] as const;

export type ErrorCode =
  | (typeof ARCHIVE_CODES)[number]
  | (typeof BUNDLE_CODES)[number]
  | (typeof UNAVAILABLE_CODES)[number]
  | (typeof OTHER_CODES)[number];

export interface ErrorDetail {
  /** Advice, one sentence; absent where none can be given. */
  readonly next?: string | undefined;
  /** Facts for programs: numbers, names. Never a credential. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/** An error as plain data: across threads, in `--json` and over HTTP. */
export interface PlainError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly next?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** A foreseen fault. The message has the form `Cannot <act> "<thing>": <state>`. */
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

/** The system error's code (`ENOENT`), or undefined where the value is no system error. */
export function errnoOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

const STATES: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'it does not exist',
  EISDIR: 'it is a folder',
  EACCES: 'it is not readable for the user that docshelf runs as',
};

/** Why a file cannot be used, in words that follow a colon. */
export function stateOf(error: unknown): string {
  const errno = errnoOf(error);
  return errno === undefined ? String(error) : (STATES[errno] ?? `it cannot be read (${errno})`);
}

/** Why a step failed, by the name of the system error. */
export function errnoState(error: unknown): string {
  return errnoOf(error) ?? 'failed';
}

/** For `catch`: a foreseen fault as it is, any other as `Cannot <act>: <state>`. */
export function rethrowAs(code: ErrorCode, act: string, next?: string, state: (error: unknown) => string = stateOf) {
  return (cause: unknown): never => {
    if (cause instanceof DocshelfError) throw cause;
    throw new DocshelfError(code, `Cannot ${act}: ${state(cause)}`, { next, cause });
  };
}

/** A foreseen fault as it is, any other as `internal` with its message kept. */
export function toDocshelfError(error: unknown): DocshelfError {
  if (error instanceof DocshelfError) return error;
  const errno = errnoOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (errno === 'ENOSPC' || errno === 'EDQUOT') {
    return new DocshelfError('cannot_write', `Cannot write to the data folder: the disk is full (${message})`, {
      next: 'Free space on the volume of storage.dir, or give it a larger one, and try again.',
      cause: error,
    });
  }
  if (errno === 'EROFS' || errno === 'EACCES' || errno === 'EPERM') {
    return new DocshelfError('cannot_write', `Cannot write: ${message}`, {
      next: 'Make the data folder (storage.dir) writable for the user that docshelf runs as.',
      cause: error,
    });
  }
  return new DocshelfError('internal', message, { cause: error });
}

const EXIT_BY_OTHER_CODE: Readonly<Record<(typeof OTHER_CODES)[number], number>> = {
  usage: 64,
  cannot_write: 73,
  not_enough_space: 73,
  cannot_read: 69,
  config_invalid: 78,
  config_not_built: 78,
  bad_source: 65,
  model_invalid: 78,
  data_folder_newer: 78,
  data_folder_older: 78,
  index_damaged: 69,
  unauthorized: 77,
  forbidden: 77,
  pinned: 69,
  in_use: 69,
  not_found: 69,
  method_not_allowed: 69,
  bad_request: 64,
  precondition_failed: 69,
  range_not_satisfiable: 64,
  payload_too_large: 64,
  unsupported_media_type: 64,
  internal: 70,
};

/** The process's exit code for a fault, after sysexits(3); the one place that maps it. */
export function exitCodeOf(code: ErrorCode): number {
  if ((ARCHIVE_CODES as readonly string[]).includes(code) || (BUNDLE_CODES as readonly string[]).includes(code))
    return 65;
  if ((UNAVAILABLE_CODES as readonly string[]).includes(code)) return 69;
  return EXIT_BY_OTHER_CODE[code as (typeof OTHER_CODES)[number]];
}
