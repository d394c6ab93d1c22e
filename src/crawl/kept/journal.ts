import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FetchedUrl } from '../ask/fetched-url.ts';

/**
 * One line an answer. Each attempt has a file of its own: a killed one leaves at most half a line, and one that has
 * lost the job harms nothing. A line survives the process, and not the machine.
 */
export class CrawlJournal {
  readonly earlier: ReadonlyMap<string, FetchedUrl>;
  /** Unique among all jobs. */
  readonly attempt: string;
  readonly #file: number;

  private constructor(earlier: ReadonlyMap<string, FetchedUrl>, attempt: string, file: number) {
    this.earlier = earlier;
    this.attempt = attempt;
    this.#file = file;
  }

  static async open(dir: string): Promise<CrawlJournal> {
    await mkdir(dir, { recursive: true });
    const attempt = `${String(namesIn(dir).length + 1).padStart(4, '0')}-${randomBytes(8).toString('hex')}`;
    return new CrawlJournal(journaled(dir), attempt, openSync(join(dir, `${attempt}.jsonl`), 'ax'));
  }

  add(fetched: FetchedUrl): void {
    writeSync(this.#file, `${JSON.stringify(fetched)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** By address, of all attempts. */
export function journaled(dir: string): Map<string, FetchedUrl> {
  const all = new Map<string, FetchedUrl>();
  for (const name of namesIn(dir)) {
    for (const fetched of readLines(readFileSync(join(dir, name), 'utf8'))) all.set(fetched.url, fetched);
  }
  return all;
}

function namesIn(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith('.jsonl'))
    .sort();
}

/** A last line that was cut off counts for nothing. */
export function readLines(text: string): FetchedUrl[] {
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as FetchedUrl];
    } catch {
      return [];
    }
  });
}
