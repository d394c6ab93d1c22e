import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { rethrowAs } from '../../domain/errors.ts';
import { membersOf } from '../../domain/shape.ts';
import { printableJson } from '../../domain/text.ts';
import { whileLocked } from '../../files/file-lock.ts';
import { ifThere, openToAppend, readIfThere } from '../../files/index.ts';
import type { AuditLine, AuditPage } from './audit-line.ts';
import type { AuditStore } from './audit-trail.ts';

interface AuditFileOptions {
  readonly dir: string;
  readonly onFault: (error: unknown) => void;
  readonly bytesMax?: number;
}

/** Some 12,000 lines. */
const BYTES_MAX = 4 * 1024 ** 2;
/** Full ones beside that which is written: 32 MiB in all. */
const FULL_MAX = 7;
const LOCK_MS_MAX = 5_000;
const CURRENT = 'audit.jsonl';
const FULL = /^audit-\d{8}T\d{9}Z\.jsonl$/;

/**
 * Lines of JSON, appended whole by all daemons on the folder; a full file is put aside under the time when it was full, and the
 * oldest goes. A line that a crash has cut off is left out.
 */
export class AuditFile implements AuditStore {
  readonly #options: AuditFileOptions;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: AuditFileOptions) {
    this.#options = options;
  }

  append(line: AuditLine): Promise<void> {
    this.#writing = this.#writing.then(() => this.#append(line)).catch(this.#options.onFault);
    return this.#writing;
  }

  async read(limit: number, before: string | null): Promise<AuditPage> {
    const { dir } = this.#options;
    const lines: AuditLine[] = [];
    for (const name of [CURRENT, ...(await this.#full()).reverse()]) {
      const text = await readIfThere(join(dir, name)).catch(rethrowAs('cannot_read', `read "${join(dir, name)}"`));
      const found = linesOf(text ?? '').filter(({ at }) => before === null || at < before);
      lines.push(...found.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)));
      if (lines.length > limit) break;
    }
    // Lines of one millisecond stand on one page: it is asked for by time.
    const last = lines[limit - 1]?.at;
    const rest = lines.slice(limit);
    const end = limit + rest.length - rest.filter(({ at }) => at !== last).length;
    return { lines: lines.slice(0, end), before: end < lines.length ? (last ?? null) : null };
  }

  async #append(line: AuditLine): Promise<void> {
    const file = join(this.#options.dir, CURRENT);
    const size = await this.#write(file, `${printableJson(JSON.stringify(line))}\n`);
    if (size > this.#bytesMax) await this.#putAside(file);
  }

  /** @returns bytes of the file */
  async #write(file: string, line: string): Promise<number> {
    await using handle = await openToAppend(file, 0o600);
    const { size } = await handle.stat();
    const last = Buffer.alloc(1, '\n');
    if (size > 0) await handle.read(last, 0, 1, size - 1);
    // One write: what others append at once is before or behind it.
    const written = Buffer.from(last.toString() === '\n' ? line : `\n${line}`);
    await handle.appendFile(written);
    await handle.datasync();
    return size + written.length;
  }

  async #putAside(file: string): Promise<void> {
    const { dir } = this.#options;
    await whileLocked(join(dir, 'audit.lock'), { mode: 'exclusive', waitMsMax: LOCK_MS_MAX }, async () => {
      // Another daemon may have done it meanwhile.
      const info = await ifThere(stat(file));
      if (info === null || info.size <= this.#bytesMax) return;
      await rename(file, join(dir, `audit-${new Date().toISOString().replaceAll(/[-:.]/g, '')}.jsonl`));
      for (const name of (await this.#full()).slice(0, -FULL_MAX)) await rm(join(dir, name), { force: true });
    });
  }

  /** The oldest first. */
  async #full(): Promise<string[]> {
    return (await readdir(this.#options.dir)).filter((name) => FULL.test(name)).sort();
  }

  get #bytesMax(): number {
    return this.#options.bytesMax ?? BYTES_MAX;
  }
}

function linesOf(text: string): AuditLine[] {
  return text.split('\n').flatMap((line) => {
    const { at, action } = membersOf<AuditLine>(line);
    return typeof at === 'string' && typeof action === 'string' ? [JSON.parse(line) as AuditLine] : [];
  });
}
