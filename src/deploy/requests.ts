import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DocshelfError, type PlainError, toDocshelfError } from '../domain/errors.ts';
import { isAlive, parseOwner, readIfThere, replaceFile, thisProcess } from '../files/index.ts';
import { runningDaemons } from './daemons.ts';
import type { Deployment } from './deployment.ts';
import type { DataPaths } from './releases/data-folder.ts';

/**
 * Requests through the inbox: how the command line hands something to a running daemon where no admin token is set. Who may
 * write to the data folder may do what the daemon does with it. One folder a request: the archive, the request, last; the
 * daemon answers with a verdict beside them.
 */
export type DaemonRequest =
  | {
      readonly action: 'import';
      readonly fileName: string | null;
      readonly version: string | null;
      /** Text of the minisign signature that came with it; null: that of the file beside it, or the configured one, counts. */
      readonly signature: string | null;
      readonly activate: boolean;
    }
  /** What a command has put into the folder by itself, having found no daemon: one that was starting. */
  | { readonly action: 'take-up'; readonly version: string; readonly digest: string; readonly activate: boolean }
  | { readonly action: 'activate'; readonly version: string }
  | { readonly action: 'rollback' }
  | { readonly action: 'remove'; readonly version: string };

export type Verdict =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: PlainError };

type Actions = Pick<Deployment, 'deliver' | 'takeUp' | 'activate' | 'rollback' | 'remove'>;

const POLL_MS = 100;
/** What nobody came back for is cleared away after a day. */
const AGE_MS_MAX = 24 * 3600_000;
/** A claim gets its owner's name at once, unless its maker dies in between. */
const CLAIM_AGE_MS_MAX = 10_000;

const folderOf = (paths: DataPaths): string => join(paths.inbox, '.requests');

/** A request that is being prepared: put the archive at `archive`, then `submit`. */
export interface Draft {
  readonly archive: string;
  /** Hands it over and waits for the verdict. @throws DocshelfError the daemon's, or `daemon_unreachable` when it is gone. */
  submit(request: DaemonRequest): Promise<unknown>;
  discard(): Promise<void>;
}

export async function draftRequest(paths: DataPaths): Promise<Draft> {
  const folder = join(folderOf(paths), randomBytes(8).toString('hex'));
  await mkdir(folder, { recursive: true });
  const discard = (): Promise<void> => rm(folder, { recursive: true, force: true });
  return {
    archive: join(folder, 'archive'),
    discard,
    submit: async (request) => {
      try {
        await replaceFile(join(folder, 'request.json'), JSON.stringify(request));
        const verdict = await waitForVerdict(paths, folder);
        if (verdict.ok) return verdict.result;
        throw DocshelfError.fromPlain(verdict.error);
      } finally {
        await discard();
      }
    },
  };
}

async function waitForVerdict(paths: DataPaths, folder: string): Promise<Verdict> {
  for (;;) {
    // Looked for before the verdict: the last thing that a stopping daemon writes may be the verdict.
    const isDaemonThere = (await runningDaemons(paths)).length > 0;
    const text = await readIfThere(join(folder, 'verdict.json'));
    if (text !== null) return JSON.parse(text) as Verdict;
    if (!isDaemonThere) {
      throw new DocshelfError('daemon_unreachable', 'Cannot hand over to the daemon: it has stopped', {
        next: 'Run the command again: without a daemon it works on the data folder itself.',
      });
    }
    await sleep(POLL_MS);
  }
}

/** The daemon's side: answers what waits, one after another. */
export async function answerRequests(paths: DataPaths, actions: Actions): Promise<void> {
  const names = await readdir(folderOf(paths)).catch(() => []);
  for (const name of names) {
    const folder = join(folderOf(paths), name);
    const text = await readIfThere(join(folder, 'request.json')).catch(() => null);
    const isAnswered = (await readIfThere(join(folder, 'verdict.json')).catch(() => null)) !== null;
    if (text !== null && !isAnswered && (await claim(folder))) {
      await replaceFile(
        join(folder, 'verdict.json'),
        JSON.stringify(await judge(text, join(folder, 'archive'), actions)),
      );
      // The one who asked may be gone; an archive is too large to lie about until then.
      await rm(join(folder, 'archive'), { force: true });
    } else {
      await removeWhenOld(folder);
    }
  }
}

async function judge(text: string, archive: string, actions: Actions): Promise<Verdict> {
  try {
    return { ok: true, result: await carryOut(JSON.parse(text) as DaemonRequest, archive, actions) };
  } catch (error) {
    return { ok: false, error: toDocshelfError(error).toPlain() };
  }
}

function carryOut(request: DaemonRequest, archive: string, actions: Actions): Promise<unknown> {
  switch (request.action) {
    case 'import': {
      const { fileName, version, signature, activate } = request;
      return actions.deliver({ file: archive, fileName, version, signature, activate, source: 'import' });
    }
    case 'take-up':
      return actions.takeUp(request, request.activate);
    case 'activate':
      return actions.activate(request.version);
    case 'rollback':
      return actions.rollback();
    case 'remove':
      return actions.remove(request.version).then(() => null);
    default:
      throw new DocshelfError('bad_request', 'Cannot carry out the request: the daemon knows no such action', {
        next: 'Use the command line of the same docshelf version as the daemon.',
      });
  }
}

/** Of several daemons on one folder, one answers. A claim whose owner has died is void, if it came to name one or not. */
async function claim(folder: string): Promise<boolean> {
  const file = join(folder, 'claim');
  const former = await readIfThere(file);
  const owner = former === null ? null : parseOwner(former);
  const isVoid = owner === null ? await isOlderThan(file, CLAIM_AGE_MS_MAX) : isAlive(owner) === false;
  if (isVoid) await rm(file, { force: true });
  try {
    const handle = await open(file, 'wx');
    await handle.writeFile(JSON.stringify(thisProcess()));
    await handle.close();
    return true;
  } catch {
    return false;
  }
}

async function removeWhenOld(folder: string): Promise<void> {
  if (await isOlderThan(folder, AGE_MS_MAX)) await rm(folder, { recursive: true, force: true });
}

async function isOlderThan(path: string, ageMs: number): Promise<boolean> {
  const info = await stat(path).catch(() => null);
  return info !== null && Date.now() - info.mtimeMs > ageMs;
}
