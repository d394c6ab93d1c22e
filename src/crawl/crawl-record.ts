import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { jsonOf } from '../domain/shape.ts';
import { readIfThere, replaceFile } from '../files/index.ts';
import type { FetchedUrl } from './entry.ts';

/** Journal of the responses of a crawl. Each attempt of the job adds a file. Lines survive the end of the process, not a power cut. */
export class CrawlJournal {
  readonly earlier: ReadonlyMap<string, FetchedUrl>;
  readonly #file: number;

  private constructor(earlier: ReadonlyMap<string, FetchedUrl>, file: number) {
    this.earlier = earlier;
    this.#file = file;
  }

  static async open(dir: string): Promise<CrawlJournal> {
    await mkdir(dir, { recursive: true });
    const attempt = `${String(namesIn(dir).length + 1).padStart(4, '0')}-${randomBytes(8).toString('hex')}`;
    return new CrawlJournal(readJournals(dir), openSync(join(dir, `${attempt}.jsonl`), 'ax'));
  }

  add(fetched: FetchedUrl): void {
    writeSync(this.#file, `${JSON.stringify(fetched)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}

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
  // Remove the folder in which earlier versions of docshelf stored the record and its content.
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
