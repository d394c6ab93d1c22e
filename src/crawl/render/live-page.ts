import { hash } from 'node:crypto';
import type { RenderedPage } from './ports.ts';
import { normalText } from './words.ts';

/** What a live page is compared by, small enough to be written down for every page of a crawl. Plain data. */
export interface LivePage {
  /** Of the page's text, white space evened out; null where it could not be had. */
  readonly textSha256: string | null;
  /** Addresses that it asked for in vain. */
  readonly failures: readonly string[];
  readonly consoleErrors: readonly string[];
}

const KEPT_MAX = 20;

export function livePageOf({ dom, failures, consoleErrors }: RenderedPage): LivePage {
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
