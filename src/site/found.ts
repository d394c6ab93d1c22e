import type { SiteRequest } from './request.ts';
import type { SiteFile } from './site-file.ts';
import type { SnapshotFile } from './transform/make-file.ts';

export interface SiteRequestFacts {
  readonly query: string;
  readonly host: string | undefined;
  readonly accept?: string | undefined;
  /** True for a service worker's script. docshelf sends none from an older release, because it would keep serving that release. */
  readonly isWorker?: boolean;
}

export const NOTHING_ELSE: SiteRequestFacts = { query: '', host: undefined };

export function requestFactsOf(request: SiteRequest, query: string): SiteRequestFacts {
  const isWorker = isServiceWorkerScript(request.header('service-worker'));
  return { query, host: request.header('host'), accept: request.header('accept'), isWorker };
}

/** True for the value `script` of `Service-Worker`, which browsers send for a worker's script, but not for its imports. */
export const isServiceWorkerScript = (field: string | undefined): boolean => field?.trim().toLowerCase() === 'script';

export type Found =
  /** If `isPassing` is true, do not cache the file: it depends on `Host` or `Accept`, or is from an older, removable release. */
  | { readonly kind: 'file'; readonly file: SnapshotFile; readonly isPassing?: boolean }
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string }
  /** `page` is the site's 404 page. `isAsset` is true if the client expects no page. */
  | { readonly kind: 'missing'; readonly page: SnapshotFile | null; readonly isAsset: boolean };

export type Missing = Extract<Found, { readonly kind: 'missing' }>;

const FILES_MAX = 8192;

/** Files by the request target for which docshelf has served them. `fastAnswer` serves only these files. */
export class PreparedTargets {
  readonly #files = new Map<string, SiteFile>();

  fileAt(target: string): SiteFile | undefined {
    return this.#files.get(withoutQuery(target));
  }

  /** Caches a file only for the usual encoding of its path, because a path has countless encodings. @param path the decoded target */
  keepFile(target: string, path: string, file: SiteFile): void {
    const written = withoutQuery(target);
    if (written !== `/${path}` && written !== `/${encodeURI(path)}`) return;
    if (this.#files.size >= FILES_MAX) this.#files.clear();
    this.#files.set(written, file);
  }
}

function withoutQuery(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}
