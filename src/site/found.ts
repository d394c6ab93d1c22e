import type { PageLanguage } from '../web/words/index.ts';
import { noticeAnswer, type SearchForm } from './notice.ts';
import type { SiteRequest } from './request.ts';
import type { FastAnswer } from './site-bytes.ts';
import { SiteFile } from './site-file.ts';
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
  /** `isPassing`: do not cache, because the file depends on `Host` or `Accept`, or is from an older, removable release. */
  | { readonly kind: 'file'; readonly file: SnapshotFile; readonly isPassing?: boolean }
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string }
  /** `page` is the site's 404 page. `isAsset` is true if the client expects no page. */
  | { readonly kind: 'missing'; readonly page: SnapshotFile | null; readonly isAsset: boolean };

export type Missing = Extract<Found, { readonly kind: 'missing' }>;

export type MissingAnswer = SiteFile | FastAnswer;

const FILES_MAX = 8192;
/** Maximum cached 404 responses, 150 KB in total. */
const MISSING_MAX = 512;
const MISSING_LENGTH_MAX = 256;

export class PreparedTargets {
  readonly #files = new Map<string, SiteFile>();
  readonly #missing = new Map<string, MissingAnswer>();

  fileAt(target: string): SiteFile | undefined {
    return this.#files.get(withoutQuery(target));
  }

  missingAt(target: string): MissingAnswer | undefined {
    return this.#missing.get(withoutQuery(target));
  }

  /** Caches a file only for the usual encoding of its path, because a path has countless encodings. @param path the decoded target */
  keepFile(target: string, path: string, file: SiteFile): void {
    const written = withoutQuery(target);
    if (written === `/${path}` || written === `/${encodeURI(path)}`) keep(this.#files, written, file, FILES_MAX);
  }

  keepMissing(target: string, missing: MissingAnswer): void {
    const written = withoutQuery(target);
    if (written.length <= MISSING_LENGTH_MAX) keep(this.#missing, written, missing, MISSING_MAX);
  }
}

function withoutQuery(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

function keep<T>(kept: Map<string, T>, target: string, value: T, countMax: number): void {
  if (kept.size >= countMax) kept.clear();
  kept.set(target, value);
}

/**
 * Returns null if the site's 404 page must be transformed first. Also null if docshelf's own 404 response is needed, but the
 * `language` is not cached yet.
 */
export function missingAs(
  { page, isAsset }: Missing,
  language: PageLanguage | undefined,
  own: MissingAnswers,
): MissingAnswer | null {
  if (!isAsset && page !== null) return page instanceof SiteFile ? page : null;
  return language === undefined ? null : own.of(language, isAsset);
}

interface Made {
  readonly page: FastAnswer;
  readonly asset: FastAnswer;
}

const NO_REQUEST = { header: (): undefined => undefined };

/** Creates one 404 response for each language, not for each address, because the number of missing addresses has no limit. */
export class MissingAnswers {
  readonly #search: SearchForm | null;
  readonly #made = new Map<PageLanguage, Made>();

  constructor(search: SearchForm | null) {
    this.#search = search;
  }

  of(language: PageLanguage, isAsset: boolean): FastAnswer {
    const made = this.#made.get(language) ?? this.#make(language);
    return isAsset ? made.asset : made.page;
  }

  #make(language: PageLanguage): Made {
    const notice = { status: 404, words: 'notFound', language } as const;
    const made = {
      page: noticeAnswer(NO_REQUEST, { ...notice, form: 'page', search: this.#search }),
      asset: noticeAnswer(NO_REQUEST, { ...notice, form: 'line' }),
    };
    this.#made.set(language, made);
    return made;
  }
}
