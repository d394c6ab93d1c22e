import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { openToAppend, readBytesIfThere, replaceFile } from '../../files/index.ts';

export interface RateLogFileOptions {
  readonly dir: string;
  readonly keepMs: number;
  readonly recordsMax: number;
  /** The limit goes on in memory; writing is tried again with the next request. */
  readonly onFault: (error: unknown) => void;
}

/** A killed process loses at most these requests. */
const FLUSH_MS = 500;
/** A record: milliseconds since 1970 (48 bits) and 16 bits of checksum, big-endian. */
const TIME_BYTES = 6;
const RECORD_BYTES = 8;

/**
 * Times of requests, an append-only file of fixed records for each organization; damaged records are skipped. Not
 * flushed: a power cut may lose seconds. Two processes on one folder learn of each other only after a restart.
 */
export class RateLogFile {
  readonly #options: RateLogFileOptions;
  readonly #pending = new Map<string, number[]>();
  readonly #written = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: RateLogFileOptions) {
    this.#options = options;
  }

  async load(organization: string): Promise<readonly number[]> {
    try {
      const records = await readRecords(this.#fileOf(organization));
      this.#written.set(organization, Math.ceil(records.length / RECORD_BYTES));
      return decode(records);
    } catch (error) {
      this.#options.onFault(error);
      return [];
    }
  }

  append(organization: string, timeMs: number): void {
    const pending = this.#pending.get(organization) ?? [];
    pending.push(timeMs);
    // Only while writing fails: the oldest matter least.
    if (pending.length > this.#options.recordsMax) pending.shift();
    this.#pending.set(organization, pending);
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Never rejects. */
  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#writing = this.#writing.then(() => this.#writeAll());
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    for (const [organization, times] of [...this.#pending]) {
      this.#pending.delete(organization);
      try {
        await mkdir(this.#options.dir, { recursive: true });
        await this.#write(organization, times);
      } catch (error) {
        this.#options.onFault(error);
        // A full disk must not cause a busy loop.
        const all = [...times, ...(this.#pending.get(organization) ?? [])];
        this.#pending.set(organization, all.slice(-this.#options.recordsMax));
      }
    }
  }

  async #write(organization: string, times: readonly number[]): Promise<void> {
    const file = this.#fileOf(organization);
    const written = this.#written.get(organization) ?? 0;
    if (written + times.length > 2 * this.#options.recordsMax) {
      const kept = await this.#shorten(file, times);
      this.#written.set(organization, kept);
      return;
    }
    const handle = await openToAppend(file);
    try {
      // Fills up what a crash has cut off.
      const { size } = await handle.stat();
      const filler = Buffer.alloc((RECORD_BYTES - (size % RECORD_BYTES)) % RECORD_BYTES);
      await handle.appendFile(Buffer.concat([filler, encode(times)]));
    } finally {
      await handle.close();
    }
    this.#written.set(organization, written + times.length);
  }

  async #shorten(file: string, times: readonly number[]): Promise<number> {
    const all = [...decode(await readRecords(file)), ...times];
    const newestMs = times.at(-1) ?? 0;
    const kept = all.filter((time) => time > newestMs - this.#options.keepMs).slice(-this.#options.recordsMax);
    await replaceFile(file, encode(kept));
    return kept.length;
  }

  #fileOf(organization: string): string {
    return join(this.#options.dir, `${organization}.rates`);
  }
}

async function readRecords(file: string): Promise<Buffer> {
  return (await readBytesIfThere(file)) ?? Buffer.alloc(0);
}

function encode(times: readonly number[]): Buffer {
  const records = Buffer.alloc(times.length * RECORD_BYTES);
  for (const [index, time] of times.entries()) {
    const at = index * RECORD_BYTES;
    // Rounded up: no request expires early.
    records.writeUIntBE(Math.ceil(time), at, TIME_BYTES);
    records.writeUInt16BE(checkOf(records, at), at + TIME_BYTES);
  }
  return records;
}

function decode(records: Buffer): number[] {
  const times: number[] = [];
  for (let at = 0; at + RECORD_BYTES <= records.length; at += RECORD_BYTES) {
    if (records.readUInt16BE(at + TIME_BYTES) === checkOf(records, at)) times.push(records.readUIntBE(at, TIME_BYTES));
  }
  return times;
}

function checkOf(records: Buffer, at: number): number {
  return crc32(records.subarray(at, at + TIME_BYTES)) & 0xffff;
}
