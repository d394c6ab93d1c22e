import { hash } from 'node:crypto';
import type { Finding } from '../../domain/job.ts';
import type { FetchedAnswer } from '../fetcher.ts';

export interface PageRequest {
  /** http or https, without fragment. */
  readonly url: string;
  readonly method: 'GET' | 'HEAD';
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** True for documents of pages and frames. */
  readonly isNavigation: boolean;
  readonly pageUrl: string;
}

/**
 * The browser has no other way out. A redirect is an answer: the browser follows it by asking again. The function
 * bounds bytes and time, keeps to what may be reached, and adds the credentials of the origin that they are for. A body
 * that is a file is not removed.
 * @throws DocshelfError if there is no answer: the page's request fails with the error's code as its reason
 */
export type AnswerRequest = (request: PageRequest, signal: AbortSignal) => Promise<FetchedAnswer>;

export interface AnsweredRequest {
  readonly url: string;
  readonly status: number;
}

/** A request without an answer, or with a status of 400 or more. */
export interface FailedRequest {
  readonly url: string;
  /** The status, an error's code, or `method`, `stream`, `budget`, `scheme` (not sent), `answer` (not taken). */
  readonly why: string;
}

export interface SettledDom {
  /** Open shadow roots are declarative ones. */
  readonly html: string;
  /** As the browser lays it out. */
  readonly text: string;
  /** Absolute http(s) URLs without fragments, each once. */
  readonly links: readonly string[];
}

/**
 * `unsettled`: requests went on beyond the bound; `left`: scripts went to another document; `hung`: scripts let nothing else
 * run; `crashed`, twice; `failed`: no document came.
 */
export type PageState = 'settled' | 'unsettled' | 'left' | 'hung' | 'crashed' | 'failed';

export interface BrowserPage {
  /** Address of the last document, without fragment. */
  readonly url: string;
  readonly state: PageState;
  /** One line, for states other than `settled`. */
  readonly reason: string | null;
  /** Null unless `settled` or `unsettled`. */
  readonly dom: SettledDom | null;
  /** Requests in order, except those that the browser answered from its cache. */
  readonly answered: readonly AnsweredRequest[];
  readonly failures: readonly FailedRequest[];
  /** Messages at level error, and uncaught errors; not those about loading. Bounded. */
  readonly consoleErrors: readonly string[];
  /** PNG of the first screen. */
  readonly screenshot: Uint8Array | null;
}

export interface RenderOptions {
  readonly signal: AbortSignal;
  readonly withScreenshot?: boolean;
}

/** Summary of a live page, stored for every page of a crawl. Plain data. */
export interface LivePage {
  /** Digest of the text by `normalText`. Null if there was no document. */
  readonly textSha256: string | null;
  readonly failures: readonly string[];
  readonly consoleErrors: readonly string[];
}

/** Without line breaks, which depend on the width of a font. */
export function normalText(text: string): string {
  return text.normalize('NFC').replace(/\s+/g, ' ').trim();
}

const KEPT_MAX = 20;

export function livePageOf({ dom, failures, consoleErrors }: BrowserPage): LivePage {
  return {
    textSha256: dom === null ? null : digestOf(dom.text),
    failures: failures.slice(0, KEPT_MAX).map(({ url }) => url),
    consoleErrors: consoleErrors.slice(0, KEPT_MAX),
  };
}

export function hasText({ textSha256 }: LivePage, text: string): boolean {
  return textSha256 === digestOf(text);
}

function digestOf(text: string): string {
  return hash('sha256', normalText(text));
}

const REFUSALS: Readonly<Record<string, string>> = {
  method: 'it would change something on the site',
  stream: 'it never ends',
  budget: 'the page asks for too much',
  scheme: 'it is neither http nor https',
};

/** `not_rendered` if scripts did not get to their end, `request_refused` for requests that no export can hold. */
export function findingsOf(page: string, { state, reason, failures }: BrowserPage): Finding[] {
  const found: Finding[] = [];
  if (state !== 'settled' && state !== 'left') {
    found.push({ kind: 'not_rendered', page, detail: `${state}: ${reason ?? 'no reason is known'}` });
  }
  for (const { url, why } of failures) {
    const refusal = REFUSALS[why];
    if (refusal !== undefined) found.push({ kind: 'request_refused', page, detail: `${url}: ${refusal}` });
  }
  return found;
}
