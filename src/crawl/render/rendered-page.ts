import { hash } from 'node:crypto';
import type { Finding } from '../../domain/job.ts';
import type { FetchedAnswer } from '../fetcher.ts';

export interface PageRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly isNavigation: boolean;
  readonly pageUrl: string;
}

/**
 * Responds to each request of the browser, which has no other network access. Follows no redirects, applies limits and the egress
 * policy, and adds credentials. The caller must remove the files of response bodies.
 * @throws DocshelfError if there is no response; the signal's reason if it aborts
 */
export type AnswerRequest = (request: PageRequest, signal: AbortSignal) => Promise<FetchedAnswer>;

export interface FailedRequest {
  readonly url: string;
  /**
   * HTTP status, error code, or reason: docshelf did not send the request (`method`, `stream`, `budget`, `scheme`), or the
   * browser rejected the response (`answer`).
   */
  readonly why: string;
}

export type SettledDom = { readonly html: string; readonly text: string; readonly links: readonly string[] };

/**
 * `unsettled`: requests continued beyond the time limit. `left`: scripts navigated away. `hung`: scripts blocked the page.
 * `crashed`: the page crashed twice. `failed`: the page has no document.
 */
export type PageState = 'settled' | 'unsettled' | 'left' | 'hung' | 'crashed' | 'failed';

export interface BrowserPage {
  readonly url: string;
  readonly state: PageState;
  readonly reason: string | null;
  readonly dom: SettledDom | null;
  readonly failures: readonly FailedRequest[];
  readonly consoleErrors: readonly string[];
  readonly screenshot: Uint8Array | null;
}

export type RenderOptions = { readonly signal: AbortSignal; readonly withScreenshot?: boolean };

/** Facts about a page of the live site, to compare with the exported page. */
export interface LivePage {
  readonly textSha256: string | null;
  readonly failures: readonly string[];
  readonly consoleErrors: readonly string[];
}

/** Joins the lines of a text for comparisons, because line breaks depend on the width of a font. */
export const normalText = (text: string): string => text.normalize('NFC').replace(/\s+/g, ' ').trim();

const KEPT_MAX = 20;

export function livePageOf({ dom, failures, consoleErrors }: BrowserPage): LivePage {
  return {
    textSha256: dom === null ? null : digestOf(dom.text),
    failures: failures.slice(0, KEPT_MAX).map(({ url }) => url),
    consoleErrors: consoleErrors.slice(0, KEPT_MAX),
  };
}

export const hasText = ({ textSha256 }: LivePage, text: string): boolean => textSha256 === digestOf(text);

const digestOf = (text: string): string => hash('sha256', normalText(text));

const REFUSALS: Readonly<Record<string, string>> = {
  method: 'its method could change data on the site',
  stream: 'its response never ends',
  budget: 'the page sends too many requests',
  scheme: 'it is neither http nor https',
};

/** Returns `not_rendered` if the page did not finish loading, and `request_refused` for each request that docshelf did not send. */
export function findingsOf(page: string, { state, reason, failures }: BrowserPage): Finding[] {
  const found: Finding[] = [];
  if (state !== 'settled' && state !== 'left')
    found.push({ kind: 'not_rendered', page, detail: `${state}: ${reason ?? 'no reason is known'}` });
  for (const { url, why } of failures) {
    const refusal = REFUSALS[why];
    if (refusal !== undefined) found.push({ kind: 'request_refused', page, detail: `${url}: ${refusal}` });
  }
  return found;
}
