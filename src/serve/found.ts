import type { SnapshotFile } from './made/unmade-file.ts';
import type { SiteRequest } from './request.ts';

/** Of a request, besides its path. */
export interface Asked {
  /** With its `?`, or empty. */
  readonly query: string;
  readonly host: string | undefined;
  readonly accept?: string | undefined;
  /** The script of a service worker, which no older release has to offer (contract, section 3). Default false. */
  readonly isWorker?: boolean;
}

export const NOTHING_ELSE: Asked = { query: '', host: undefined };

export function askedOf(request: SiteRequest, query: string): Asked {
  const isWorker = isWorkerScript(request.header('service-worker'));
  return { query, host: request.header('host'), accept: request.header('accept'), isWorker };
}

/** @param field `Service-Worker`, which browsers send with the script itself and not with its imports (Service Workers, section 4.4) */
export const isWorkerScript = (field: string | undefined): boolean => field?.trim().toLowerCase() === 'script';

export type Found =
  /** `isPassing`: not what every request for this path gets, now and later: of an older release, or by the host that was asked. */
  | { readonly kind: 'file'; readonly file: SnapshotFile; readonly isPassing?: boolean }
  /** `location`: with the query of the request. */
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string }
  /** `page`: the site's own 404 page, or null. `isAsset`: no page is wanted. */
  | { readonly kind: 'missing'; readonly page: SnapshotFile | null; readonly isAsset: boolean };
