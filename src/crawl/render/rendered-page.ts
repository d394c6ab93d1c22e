import { hash } from 'node:crypto';
import type { Finding } from '../../domain/job.ts';
import type { FetchedAnswer } from '../fetch/guarded-answer.ts';
import { normalText } from './words.ts';

/** A request that a page causes, as whoever answers it needs it. */
export interface PageRequest {
  /** http or https, absolute, without fragment. */
  readonly url: string;
  readonly method: 'GET' | 'HEAD';
  /** Names in lower case: what the browser accepts, the cookies that the site has set itself, what its scripts add. */
  readonly headers: Readonly<Record<string, string>>;
  /** True where a document is asked for, of a page or of a frame. */
  readonly isNavigation: boolean;
  /** Address of the page that is being rendered. */
  readonly pageUrl: string;
}

/**
 * Answers every request of a browser, which has no other way out; what is to be kept of the answers is kept here. A redirect
 * is an answer like any other: the browser follows it by asking again. Whoever answers bounds bytes and time, keeps to what may be
 * reached, and adds the credentials of the origin that they are for. A body that is a file is read, and not removed.
 *
 * @throws DocshelfError where there is no answer: the page's request fails, and the error's code is the reason
 */
export type AnswerRequest = (request: PageRequest, signal: AbortSignal) => Promise<FetchedAnswer>;

/** A request of a page that was answered, with whatever status. */
export interface AnsweredRequest {
  readonly url: string;
  readonly status: number;
}

/** A request of a page that got no answer, or one with a status of 400 or more. */
export interface FailedRequest {
  readonly url: string;
  /** The status, an error's code, or in one word why it was not sent (`method`, `stream`, `budget`, `scheme`) or not taken (`answer`). */
  readonly why: string;
}

/** A page's document once its scripts are done. */
export interface SettledDom {
  /** The document, its doctype first; open shadow roots as declarative ones. */
  readonly html: string;
  /** Its visible text, white space as the browser lays it out. */
  readonly text: string;
  /** Where its links lead, as absolute http(s) URLs without fragments, each once. */
  readonly links: readonly string[];
}

/**
 * The outcome of rendering: `settled`; `unsettled`, where requests went on beyond the bound; `left`, where its scripts went to
 * another document; `hung`, where its scripts let nothing else run; `crashed`, twice; `failed`, where no document came.
 */
export type PageState = 'settled' | 'unsettled' | 'left' | 'hung' | 'crashed' | 'failed';

export interface BrowserPage {
  /** Of the document that the browser shows in the end, without fragment. */
  readonly url: string;
  readonly state: PageState;
  /** For states other than `settled`: one line that says more. */
  readonly reason: string | null;
  /** Null unless `settled` or `unsettled`. */
  readonly dom: SettledDom | null;
  /**
   * In the order in which they were answered: documents, redirects, and what the page loads. What the browser still has in memory
   * from an earlier page it does not ask for again.
   */
  readonly answered: readonly AnsweredRequest[];
  readonly failures: readonly FailedRequest[];
  /** Console messages at level error, and uncaught errors; not those about loading. Bounded. */
  readonly consoleErrors: readonly string[];
  /** PNG of the first screen, where it was asked for and could be taken. */
  readonly screenshot: Uint8Array | null;
}

export interface RenderOptions {
  readonly signal: AbortSignal;
  readonly withScreenshot?: boolean;
}

/** A browser for one job, with cookies and storage of its own. Several pages may be rendered at once; the rest waits. */
export interface RenderSession {
  /** Pages that are rendered at once. */
  readonly tabs: number;

  /**
   * Opens a page, scrolls it to its end so that lazy parts load, and waits for it to settle, all of it bounded in time.
   * A page's fault is its `state` and no error.
   *
   * @throws DocshelfError `browser_failed` where the browser ends again and again; the signal's reason when it is aborted
   */
  render(url: string, options: RenderOptions): Promise<BrowserPage>;

  close(): Promise<void>;
}

/** A live page as the written one is compared with it, small enough to be kept for every page of a crawl. Plain data. */
export interface LivePage {
  /** Of the page's text, white space evened out; null where it could not be had. */
  readonly textSha256: string | null;
  /** Addresses that it asked for in vain. */
  readonly failures: readonly string[];
  readonly consoleErrors: readonly string[];
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

/** Why a request was not sent, in words. */
const REFUSALS: Readonly<Record<string, string>> = {
  method: 'it would change something on the site',
  stream: 'it never ends',
  budget: 'the page asks for too much',
  scheme: 'it is neither http nor https',
};

/**
 * Findings of a page that was rendered: `not_rendered` where its scripts did not get to their end, so that what
 * they load may be missing, and `request_refused` for what they ask for and no export can hold. What its site does not
 * answer is no fault of the export.
 *
 * @param page what it is known by, its address or the path of its file
 */
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
