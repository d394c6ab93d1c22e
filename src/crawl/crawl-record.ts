import { createHash, randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { jsonOf } from '../domain/shape.ts';
import { readIfThere, replaceFile } from '../files/index.ts';
import type { FetchedUrl } from './entry.ts';

/**
 * Opens the journal of a crawl, which has one file of responses per attempt. Written lines survive a crash of the process, but
 * not a power cut.
 */
export function openJournal(dir: string) {
  mkdirSync(dir, { recursive: true });
  const attempt = `${String(namesIn(dir).length + 1).padStart(4, '0')}-${randomBytes(8).toString('hex')}`;
  const earlier: ReadonlyMap<string, FetchedUrl> = readJournals(dir);
  const file = openSync(join(dir, `${attempt}.jsonl`), 'ax');
  return {
    earlier,
    add: (fetched: FetchedUrl): void => void writeSync(file, `${JSON.stringify(fetched)}\n`),
    [Symbol.dispose]: (): void => closeSync(file),
  };
}

export type CrawlJournal = ReturnType<typeof openJournal>;

export function readJournals(dir: string): Map<string, FetchedUrl> {
  const all = new Map<string, FetchedUrl>();
  for (const name of namesIn(dir)) {
    for (const fetched of readLines(readFileSync(join(dir, name), 'utf8').split('\n'))) all.set(fetched.url, fetched);
  }
  return all;
}

function namesIn(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith('.jsonl'))
    .sort();
}

/** Responses in the journal. Ignores an incomplete last line. */
function readLines(lines: readonly string[]): FetchedUrl[] {
  return lines.flatMap((line) => (jsonOf(line) as FetchedUrl | undefined) ?? []);
}

const recordOf = (recordsDir: string, domain: string): string => join(recordsDir, `${domain}.jsonl`);

/** Responses of the previous crawl. Empty if that crawl used other credentials. */
export async function readRecord(recordsDir: string, domain: string, credentials: string) {
  const text = (await readIfThere(recordOf(recordsDir, domain))) ?? '';
  const [head = '', ...lines] = text.split('\n');
  const [salt = '', digest] = head.split(' ');
  const all = digest === digestOf(salt, credentials) ? readLines(lines) : [];
  return new Map(all.map((fetched) => [fetched.url, fetched]));
}

export async function writeRecord(
  recordsDir: string,
  domain: string,
  credentials: string,
  all: readonly FetchedUrl[],
): Promise<void> {
  const salt = randomBytes(16).toString('hex');
  const lines = [`${salt} ${digestOf(salt, credentials)}`];
  for (const fetched of all) if (fetched.content !== null) lines.push(JSON.stringify(fetched));
  await replaceFile(recordOf(recordsDir, domain), `${lines.join('\n')}\n`);
  // Remove the folder in which earlier versions of docshelf stored the record of a crawl and its content.
  await rm(join(recordsDir, domain), { recursive: true, force: true });
}

export async function recordedContents(recordsDir: string): Promise<Set<string>> {
  const digests = new Set<string>();
  for (const name of namesIn(recordsDir)) {
    const [, ...lines] = readFileSync(join(recordsDir, name), 'utf8').split('\n');
    for (const { content } of readLines(lines)) if (content !== null) digests.add(content.sha256);
  }
  return digests;
}

const digestOf = (salt: string, credentials: string): string =>
  createHash('sha256').update(`${salt} ${credentials}`).digest('hex');
