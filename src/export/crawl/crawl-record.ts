import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../domain/errors.ts';
import { replaceFile } from '../../files/index.ts';
import type { FetchedUrl } from './fetched-url.ts';
import { readLines } from './journal.ts';

/**
 * What the last crawl of a domain was answered, `<dir>/<domain>.jsonl`: the next one asks for what has changed since. It keeps
 * what it names in the file store.
 */
export class CrawlRecord {
  readonly #file: string;

  constructor(dir: string, domain: string) {
    this.#file = join(dir, `${domain}.jsonl`);
  }

  /** Empty where there is none, or where it was made with other credentials: whoever may see more is answered otherwise. */
  async read(credentials: string): Promise<ReadonlyMap<string, FetchedUrl>> {
    const text = await readFile(this.#file, 'utf8').catch((error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return '';
      throw error;
    });
    const end = text.indexOf('\n');
    const [salt = '', digest] = text.slice(0, end).split(' ');
    if (end === -1 || digest !== digestOf(salt, credentials)) return new Map();
    return new Map(readLines(text.slice(end + 1)).map((fetched) => [fetched.url, fetched]));
  }

  /** Replaces the record, whole or not at all. */
  async write(all: Iterable<FetchedUrl>, credentials: string): Promise<void> {
    const salt = randomBytes(16).toString('hex');
    const lines = [`${salt} ${digestOf(salt, credentials)}`];
    for (const fetched of all) if (fetched.content !== null) lines.push(JSON.stringify(fetched));
    await replaceFile(this.#file, `${lines.join('\n')}\n`);
  }
}

function digestOf(salt: string, credentials: string): string {
  return createHash('sha256').update(`${salt} ${credentials}`).digest('hex');
}

/** The digests of all content that the records in a folder name. */
export async function recordedContents(dir: string): Promise<Set<string>> {
  const digests = new Set<string>();
  for (const name of await readdir(dir)) {
    if (!name.endsWith('.jsonl')) continue;
    const text = await readFile(join(dir, name), 'utf8');
    for (const { content } of readLines(text.slice(text.indexOf('\n') + 1))) {
      if (content !== null) digests.add(content.sha256);
    }
  }
  return digests;
}
