import { DocshelfError } from './errors.ts';
import type { ExportRequest, Finding } from './job.ts';
import { showName } from './secret.ts';

export interface StoredContent {
  readonly sha256: string;
  readonly size: number;
  readonly type: string;
}

/** Files in any order. A path given twice is a fault of the source. */
export interface SiteSink {
  /** @throws DocshelfError `bad_source` for a path that no archive may have */
  add(path: string, content: Uint8Array | { readonly file: string } | StoredContent): Promise<void>;
  find(finding: Finding): void;
  progress(done: number, total: number): void;
}

export interface SiteSource {
  /** @throws DocshelfError `bad_source` where there is nothing to export or it cannot be read; the signal's reason */
  collect(request: ExportRequest, sink: SiteSink, signal: AbortSignal): Promise<void>;
}

export function badSource(path: string, state: string, next: string, cause?: unknown): DocshelfError {
  return new DocshelfError('bad_source', `Cannot export "${showName(path)}": ${state}`, { next, cause });
}
