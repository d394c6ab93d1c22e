import { DocshelfError } from './errors.ts';
import type { ExportRequest, Finding } from './job.ts';
import { showName } from './show-name.ts';

/** Content that a source has put into the file store itself. */
export interface StoredContent {
  readonly sha256: string;
  readonly size: number;
  /** Media type, with charset where it is text. */
  readonly type: string;
}

/** Receives a source's files, in any order. A path given twice is a fault of the source. */
export interface SiteSink {
  /** Bytes in memory, a file on disk that is copied, or what is stored. @throws DocshelfError `bad_source` for a path that no archive may have. */
  add(path: string, content: Uint8Array | { readonly file: string } | StoredContent): Promise<void>;
  find(finding: Finding): void;
  /** Progress, in units of the source. */
  progress(done: number, total: number): void;
}

/** Produces the site of an export: one for each kind of source. */
export interface SiteSource {
  /**
   * Gives every file of the site to the sink.
   *
   * @throws DocshelfError `bad_source` where there is nothing to export or it cannot be read; the signal's reason when it is aborted
   */
  collect(request: ExportRequest, sink: SiteSink, signal: AbortSignal): Promise<void>;
}

/** The fault of a source: `Cannot export "<path>": <state>`, and what an operator does about it. */
export function badSource(path: string, state: string, next: string, cause?: unknown): DocshelfError {
  return new DocshelfError('bad_source', `Cannot export "${showName(path)}": ${state}`, { next, cause });
}
