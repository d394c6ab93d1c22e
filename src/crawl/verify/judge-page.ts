import type { Finding } from '../../domain/job.ts';
import { linkWithoutSecrets } from '../../domain/secret.ts';
import { counted } from '../../domain/text.ts';
import type { BrowserPage } from '../render/rendered-page.ts';
import { normalText } from '../render/words.ts';
import { WRITTEN_ORIGIN } from './static-host.ts';

interface LiveFaults {
  readonly failures: readonly string[];
  readonly consoleErrors: readonly string[];
}

export interface Judged {
  readonly findings: readonly Finding[];
  readonly weight: number;
}

/** Weight of a fault, in missing words. */
const FAILED_WEIGHT = 20;
const CONSOLE_WEIGHT = 10;
const OFF_ORIGIN_WEIGHT = 2;
const BROKEN_WEIGHT = 1_000;

/** Addresses differ on the written site, and mean the same. */
const URL_IN_TEXT = /\b(?:https?|blob):\/*[^\s'")]+/g;
const NUMBER = /\d+/g;

/** @param live null where no live page is known */
export function judgePage(
  path: string,
  { state, reason, failures, consoleErrors }: BrowserPage,
  live: LiveFaults | null,
  change: TextChange | null,
): Judged {
  const findings: Finding[] = [];
  let weight = 0;
  const add = (kind: string, detail: string, weighs: number): void => {
    findings.push({ kind, page: path, detail });
    weight += weighs;
  };
  const isBroken = state === 'hung' || state === 'crashed' || state === 'failed';
  if (isBroken) add('not_rendered', `${state}: ${reason ?? 'no reason is known'}`, BROKEN_WEIGHT);

  const failedLive = new Set(live?.failures.map(addressWithoutOrigin));
  for (const { url, why } of failures) {
    if (!isWritten(url)) add('off_origin_request', linkWithoutSecrets(url), OFF_ORIGIN_WEIGHT);
    else if (!failedLive.has(addressWithoutOrigin(url))) {
      add('failed_request', `${addressWithoutOrigin(url)}: ${why}`, FAILED_WEIGHT);
    }
  }
  const saidLive = new Set(live?.consoleErrors.map(gist));
  for (const error of consoleErrors) {
    const isAboutRequest = failures.some(({ url }) => error.includes(url));
    if (!isAboutRequest && !saidLive.has(gist(error))) add('console_error', oneLine(error), CONSOLE_WEIGHT);
  }
  if (change !== null) add('changed_text', change.detail, 1 + change.missing + change.added);
  return { findings, weight };
}

const isWritten = (url: string): boolean => new URL(url).host === new URL(WRITTEN_ORIGIN).host;

function addressWithoutOrigin(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

function gist(message: string): string {
  return message.replace(URL_IN_TEXT, '').replace(NUMBER, '');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

interface TextChange {
  /** Words that only one of the two has. */
  readonly missing: number;
  readonly added: number;
  readonly detail: string;
}

const SHOWN_WORDS = 8;
const SHOWN_CHARACTERS_MAX = 120;

/** Null where both read the same. */
export function compareText(live: string, written: string): TextChange | null {
  const before = wordsOf(live);
  const after = wordsOf(written);
  const at = before.findIndex((word, index) => word !== after[index]);
  if (at === -1 && before.length === after.length) return null;
  const from = at === -1 ? before.length : at;
  const missing = countOnlyIn(before, after);
  const added = countOnlyIn(after, before);
  const detail = `${counted(missing, 'word')} missing, ${added} new: live ${show(before, from)}, written ${show(after, from)}`;
  return { missing, added, detail };
}

function wordsOf(text: string): string[] {
  const normal = normalText(text);
  return normal === '' ? [] : normal.split(' ');
}

function countOnlyIn(words: readonly string[], others: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of others) left.set(word, (left.get(word) ?? 0) + 1);
  let count = 0;
  for (const word of words) {
    const there = left.get(word) ?? 0;
    if (there === 0) count += 1;
    else left.set(word, there - 1);
  }
  return count;
}

function show(words: readonly string[], from: number): string {
  const shown = words.slice(from, from + SHOWN_WORDS).join(' ');
  return shown === '' ? 'ends there' : `"${shown.slice(0, SHOWN_CHARACTERS_MAX)}"`;
}
