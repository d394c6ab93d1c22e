import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../domain/errors.ts';
import { replaceFile } from '../../files/index.ts';
import type { FetchedUrl } from '../entry.ts';

/**
 * One line per response, one file per attempt, so that a killed or former attempt damages nothing. Lines survive the process but not a
 * power cut.
 */
export class CrawlJournal {
  readonly earlier: ReadonlyMap<string, FetchedUrl>;
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
    return new CrawlJournal(readJournals(dir), attempt, openSync(join(dir, `${attempt}.jsonl`), 'ax'));
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
    for (const fetched of readLines(readFileSync(join(dir, name), 'utf8'))) all.set(fetched.url, fetched);
  }
  return all;
}

function namesIn(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith('.jsonl'))
    .sort();
}

/** Ignores an incomplete last line. */
function readLines(text: string): FetchedUrl[] {
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as FetchedUrl];
    } catch {
      return [];
    }
  });
}

const FILE = 'record.jsonl';
const PACK = /\.pack$/;
/** Below this share of used content, a pack is dropped and its content fetched again. */
const LIVE_SHARE_MIN = 0.5;
const SMALL_PACK_BYTES = 1024 ** 2;

export class CrawlRecord {
  readonly dir: string;

  constructor(recordsDir: string, domain: string) {
    this.dir = join(recordsDir, domain);
  }

  async read(credentials: string): Promise<ReadonlyMap<string, FetchedUrl>> {
    const text = await textOf(join(this.dir, FILE));
    const end = text.indexOf('\n');
    const [salt = '', digest] = text.slice(0, end).split(' ');
    if (end === -1 || digest !== digestOf(salt, credentials)) return new Map();
    const all = readLines(text.slice(end + 1));
    const wasted = await this.#wastedPacks(all);
    const usable = all.filter(({ content }) => content?.packed == null || !wasted.has(content.packed.pack));
    return new Map(usable.map((fetched) => [fetched.url, fetched]));
  }

  async flush(jobDir: string): Promise<void> {
    const names = await readdir(jobDir).catch(() => []);
    const packs = names.filter((name) => PACK.test(name));
    await Promise.allSettled(packs.map((name) => flushFile(join(jobDir, name))));
  }

  async write(all: readonly FetchedUrl[], credentials: string, jobDir: string): Promise<void> {
    await mkdir(this.dir, { recursive: true });
    const packs = new Set(all.flatMap(({ content }) => (content?.packed == null ? [] : [content.packed.pack])));
    for (const pack of packs) await moveToRecord(pack, jobDir, this.dir);
    const salt = randomBytes(16).toString('hex');
    const lines = [`${salt} ${digestOf(salt, credentials)}`];
    for (const fetched of all) if (fetched.content !== null) lines.push(JSON.stringify(fetched));
    await replaceFile(join(this.dir, FILE), `${lines.join('\n')}\n`);
    for (const name of await readdir(this.dir)) {
      if (PACK.test(name) && !packs.has(name)) await rm(join(this.dir, name), { force: true });
    }
  }

  async #wastedPacks(all: readonly FetchedUrl[]): Promise<ReadonlySet<string>> {
    const liveBytes = new Map<string, number>();
    for (const { content } of all) {
      if (content?.packed == null) continue;
      const { pack } = content.packed;
      liveBytes.set(pack, (liveBytes.get(pack) ?? 0) + content.size);
    }
    const wasted = new Set<string>();
    for (const [pack, bytes] of liveBytes) {
      const info = await stat(join(this.dir, pack)).catch(() => null);
      const isSmall = info !== null && info.size <= SMALL_PACK_BYTES;
      if (info === null || (!isSmall && bytes < info.size * LIVE_SHARE_MIN)) wasted.add(pack);
    }
    return wasted;
  }
}

export async function recordedContents(recordsDir: string): Promise<Set<string>> {
  const digests = new Set<string>();
  for (const domain of await readdir(recordsDir)) {
    const text = await textOf(join(recordsDir, domain, FILE));
    for (const { content } of readLines(text.slice(text.indexOf('\n') + 1))) {
      if (content !== null && content.packed === null) digests.add(content.sha256);
    }
  }
  return digests;
}

/** Flush first, or the record could survive a power cut without its content. */
async function moveToRecord(pack: string, jobDir: string, dir: string): Promise<void> {
  try {
    await flushFile(join(jobDir, pack));
    await rename(join(jobDir, pack), join(dir, pack));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

async function flushFile(file: string): Promise<void> {
  await using handle = await open(file, 'r');
  await handle.datasync();
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return '';
    throw error;
  });
}

const digestOf = (salt: string, credentials: string): string =>
  createHash('sha256').update(`${salt} ${credentials}`).digest('hex');
