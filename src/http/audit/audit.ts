import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { HttpBindings } from '@hono/node-server';
import { rethrowAs, toDocshelfError } from '../../domain/errors.ts';
import { membersOf, objectOf, RFC3339, type ShapeOf, text, textOrNull } from '../../domain/shape.ts';
import { printableJson } from '../../domain/text.ts';
import { whileLocked } from '../../files/file-lock.ts';
import { ifThere, openToAppend, readIfThere } from '../../files/index.ts';
import { requestIdOf } from '../listener/request.ts';

const ACTOR_KINDS = ['token', 'session', 'socket', 'key'] as const;

export interface Actor {
  readonly by: (typeof ACTOR_KINDS)[number];
  /** Name of the console session, or id of the API key, but never a credential. Null for other kinds of actors. */
  readonly id: string | null;
  readonly client: string | null;
  readonly requestId: string | null;
}

export function actorOf(by: Actor['by'], env: Partial<HttpBindings> | undefined, id: string | null = null): Actor {
  const client = by === 'socket' ? null : (env?.incoming?.socket.remoteAddress ?? null);
  return { by, id, client, requestId: requestIdOf(env) };
}

const auditLineSchema = {
  title: 'AuditLine',
  ...objectOf({
    at: RFC3339,
    by: {
      type: 'string',
      enum: ACTOR_KINDS,
      description:
        'Kind of credential: the admin token, a console session, the socket of the data folder, or an API key.',
    },
    id: textOrNull('ID of the session or API key.'),
    client: textOrNull('Address of the client. Null for the socket.'),
    requestId: textOrNull('ID in `X-Request-Id` and the log.'),
    action: text(
      '`activate`, `rollback`, `remove`, `upload`, `signature`, `preview`, `reload`, `key-create`, `key-revoke`, `export-start`, `export-cancel`, `export-link`, `sign-in`, `sign-out` and others.',
    ),
    site: textOrNull('Domain of the site.'),
    organization: textOrNull('Organization of the key or export.'),
    target: textOrNull('Target of the action: a version, a file, the name of a key, or a job.'),
    from: textOrNull('Version that was active before, or the deleted key.'),
    to: textOrNull('Version that is active after the action, or the new key.'),
    result: text('`ok` or the error code.'),
    error: textOrNull('The error message.'),
  }),
} as const;
export const auditPageSchema = {
  title: 'Audit',
  ...objectOf({
    lines: { type: 'array', items: auditLineSchema, description: 'Lines, newest first.' },
    before: textOrNull('`before` value for the next page. Null on the last page.'),
  }),
} as const;

export type AuditLine = ShapeOf<typeof auditLineSchema>;
export type AuditPage = ShapeOf<typeof auditPageSchema>;

export type AuditFacts = Partial<Pick<AuditLine, 'site' | 'organization' | 'target' | 'from' | 'to'>>;

/** Writes audit lines. Records each change before the client gets its response. */
export class AuditTrail {
  readonly #store: Pick<AuditFile, 'append' | 'read'>;
  readonly #log: (line: AuditLine) => void;
  #count = 0;

  constructor(store: Pick<AuditFile, 'append' | 'read'>, log: (line: AuditLine) => void) {
    this.#store = store;
    this.#log = log;
  }

  get count(): number {
    return this.#count;
  }

  read(limit: number, before: string | null = null): Promise<AuditPage> {
    return this.#store.read(limit, before);
  }

  async record<Result>(
    actor: Actor,
    action: string,
    facts: AuditFacts,
    act: () => Promise<Result>,
    after: (result: Result) => AuditFacts & Partial<Pick<AuditLine, 'result' | 'error'>> = () => ({}),
  ): Promise<Result> {
    const line: AuditLine = { ...NOTHING, at: '', ...actor, action, ...facts, result: 'ok', error: null };
    try {
      const result = await act();
      await this.#write({ ...line, ...after(result) });
      return result;
    } catch (cause) {
      const { code, message } = toDocshelfError(cause);
      await this.#write({ ...line, result: code, error: code === 'internal' ? null : message });
      throw cause;
    }
  }

  async #write(line: AuditLine): Promise<void> {
    const dated = { ...line, at: new Date().toISOString() };
    this.#log(dated);
    await this.#store.append(dated);
    this.#count += 1;
  }
}

const NOTHING = { site: null, organization: null, target: null, from: null, to: null };

interface AuditFileOptions {
  readonly dir: string;
  readonly onFault: (error: unknown) => void;
}

/** Maximum bytes of the current audit file, enough for about 12,000 lines. */
const BYTES_MAX = 4 * 1024 ** 2;
const FULL_FILES_MAX = 7;
const LOCK_MS_MAX = 5_000;
const CURRENT_FILE = 'audit.jsonl';
const FULL_FILE = /^audit-\d{8}T\d{9}Z\.jsonl$/;

/** Audit lines in a data folder. All daemons of the folder append to one file. Readers ignore a line that a crash has cut off. */
export class AuditFile {
  readonly #options: AuditFileOptions;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: AuditFileOptions) {
    this.#options = options;
  }

  /** Appends an audit line. Never rejects: a failed write only calls `onFault`, because docshelf's log also contains the line. */
  append(line: AuditLine): Promise<void> {
    this.#writing = this.#writing.then(() => this.#append(line)).catch(this.#options.onFault);
    return this.#writing;
  }

  /**
   * Returns audit lines, newest first. @param before RFC 3339 time; omits lines from this time on @throws DocshelfError `cannot_read`
   */
  async read(limit: number, before: string | null): Promise<AuditPage> {
    const { dir } = this.#options;
    const lines: AuditLine[] = [];
    for (const name of [CURRENT_FILE, ...(await this.#full()).reverse()]) {
      const text = await readIfThere(join(dir, name)).catch(rethrowAs('cannot_read', `read "${join(dir, name)}"`));
      const found = linesOf(text ?? '').filter(({ at }) => before === null || at < before);
      lines.push(...found.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)));
      if (lines.length > limit) break;
    }
    // Return all lines of a millisecond at once, because the next call selects older lines by their time.
    const last = lines[limit - 1]?.at;
    const rest = lines.slice(limit);
    const end = limit + rest.length - rest.filter(({ at }) => at !== last).length;
    return { lines: lines.slice(0, end), before: end < lines.length ? (last ?? null) : null };
  }

  async #append(line: AuditLine): Promise<void> {
    const file = join(this.#options.dir, CURRENT_FILE);
    const size = await this.#write(file, `${printableJson(JSON.stringify(line))}\n`);
    if (size > BYTES_MAX) await this.#putAside(file);
  }

  async #write(file: string, line: string): Promise<number> {
    await using handle = await openToAppend(file, 0o600);
    const { size } = await handle.stat();
    const last = Buffer.alloc(1, '\n');
    if (size > 0) await handle.read(last, 0, 1, size - 1);
    // Write the line in one call, so that other daemons cannot write into its middle.
    const written = Buffer.from(last.toString() === '\n' ? line : `\n${line}`);
    await handle.appendFile(written);
    await handle.datasync();
    return size + written.length;
  }

  async #putAside(file: string): Promise<void> {
    const { dir } = this.#options;
    await whileLocked(join(dir, 'audit.lock'), { mode: 'exclusive', waitMsMax: LOCK_MS_MAX }, async () => {
      const info = await ifThere(stat(file));
      if (info === null || info.size <= BYTES_MAX) return;
      await rename(file, join(dir, `audit-${new Date().toISOString().replaceAll(/[-:.]/g, '')}.jsonl`));
      for (const name of (await this.#full()).slice(0, -FULL_FILES_MAX)) await rm(join(dir, name), { force: true });
    });
  }

  async #full(): Promise<string[]> {
    return (await readdir(this.#options.dir)).filter((name) => FULL_FILE.test(name)).sort();
  }
}

function linesOf(text: string): AuditLine[] {
  return text.split('\n').flatMap((line) => {
    const { at, action } = membersOf<AuditLine>(line);
    return typeof at === 'string' && typeof action === 'string' ? [JSON.parse(line) as AuditLine] : [];
  });
}
