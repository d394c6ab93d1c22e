import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import { namesIn, writeOnce } from '../../files/index.ts';

interface SigningKeysOptions {
  readonly dir: string;
  readonly rotateMs: number;
  readonly signedMsMax: number;
  readonly nowMs: () => number;
}

export interface SigningKey {
  /** The first key has number 1. The key with the highest number signs. */
  readonly id: string;
  readonly secret: KeyObject;
  readonly createdAtMs: number;
}

/** HMAC-SHA-256 gains nothing from a key longer than its output (RFC 2104, section 3). */
const SECRET_BYTES = 32;
const ID = /^[1-9]\d{0,8}$/;
/** Maximum difference between the clocks of processes on one data folder. */
const CLOCKS_APART_MS_MAX = 3600_000;

/**
 * One file `<id>.json` for each key, readable only by docshelf's user, shared by all processes of one data folder. A complete file is
 * linked under a free name: if several processes create the next key at once, one succeeds and the others use its key.
 * If the clock jumps back, no key is created or removed. If it jumps forward, a key is created early. The key before the newest always
 * stays, so that its signatures are valid again once the clock is right.
 */
export class SigningKeys {
  readonly #options: SigningKeysOptions;
  #newest: SigningKey | null = null;

  constructor(options: SigningKeysOptions) {
    this.#options = options;
  }

  async current(): Promise<SigningKey> {
    if (this.#newest === null || this.#isDue(this.#newest)) {
      this.#newest = await this.#onDisk();
      if (this.#newest === null || this.#isDue(this.#newest)) {
        this.#newest = await this.#make(Number(this.#newest?.id ?? 0) + 1);
        await this.#removeUseless();
      }
    }
    return this.#newest;
  }

  async find(id: string): Promise<SigningKey | null> {
    if (!ID.test(id)) return null;
    return this.#newest?.id === id ? this.#newest : this.#read(id);
  }

  #isDue({ createdAtMs }: SigningKey): boolean {
    return this.#options.nowMs() - createdAtMs >= this.#options.rotateMs;
  }

  async #onDisk(): Promise<SigningKey | null> {
    const id = (await this.#ids()).at(-1);
    return id === undefined ? null : this.#read(id);
  }

  async #ids(): Promise<string[]> {
    const names = await namesIn(this.#options.dir);
    const ids = names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length));
    return ids.filter((id) => ID.test(id)).sort((a, b) => Number(a) - Number(b));
  }

  async #make(number: number): Promise<SigningKey> {
    const { dir, nowMs } = this.#options;
    const id = String(number);
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const text = `${JSON.stringify({ secret, createdAt: new Date(nowMs()).toISOString() })}\n`;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    // If another process was first, use its key.
    await writeOnce(this.#fileOf(id), text, 0o600);
    const made = await this.#read(id);
    if (made === null) throw damaged(this.#fileOf(id), 'it was removed right after it was created');
    return made;
  }

  /** Removes keys whose signatures have all expired since the next key took over. */
  async #removeUseless(): Promise<void> {
    const { signedMsMax, nowMs } = this.#options;
    const ids = await this.#ids();
    for (const [index, id] of ids.slice(0, -2).entries()) {
      const next = await this.#read(ids[index + 1] as string);
      const uselessAtMs = (next?.createdAtMs ?? Number.POSITIVE_INFINITY) + signedMsMax + CLOCKS_APART_MS_MAX;
      if (uselessAtMs < nowMs()) await rm(this.#fileOf(id), { force: true });
    }
  }

  async #read(id: string): Promise<SigningKey | null> {
    const file = this.#fileOf(id);
    const text = await readFile(file, 'utf8').catch((error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return null;
      throw damaged(file, (error as Error).message, error);
    });
    return text === null ? null : parseKey(id, text, file);
  }

  #fileOf(id: string): string {
    return join(this.#options.dir, `${id}.json`);
  }
}

function parseKey(id: string, text: string, file: string): SigningKey {
  let stored: { secret?: unknown; createdAt?: unknown } | null;
  try {
    stored = JSON.parse(text);
  } catch {
    // Drop the cause: its message quotes the text, which contains the secret.
    throw damaged(file, 'it is not JSON');
  }
  const secret = Buffer.from(String(stored?.secret ?? ''), 'base64url');
  const createdAtMs = Date.parse(String(stored?.createdAt));
  if (secret.length !== SECRET_BYTES || Number.isNaN(createdAtMs)) throw damaged(file, 'it is incomplete');
  return { id, secret: createSecretKey(secret), createdAtMs };
}

function damaged(file: string, state: string, cause?: unknown): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot read signing key "${file}": ${state}`, {
    next: 'Restore the file, or remove it. After that, only new links work.',
    cause,
  });
}
