import { createHash, randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { membersOf } from '../../domain/shape.ts';
import { whileLocked } from '../../files/file-lock.ts';
import { readIfThere, replaceFile } from '../../files/index.ts';
import type { SiteStore } from '../releases/site-store.ts';
import type { TakenIn } from '../take-in/take-in.ts';

/** After that a bundle is fetched twice: who fetches it may be stopped, or have a slow network. */
const FETCH_MS_MAX = 600_000;

/**
 * Runs one of several daemons' fetches of the same for a shared folder; the others wait for its end and take what it stored. One
 * that failed is tried by the next.
 *
 * @param wanted all that decides on what is stored @throws the signal's reason, and what `act` throws
 */
export async function fetchOnce(
  store: SiteStore,
  wanted: readonly unknown[],
  signal: AbortSignal,
  act: () => Promise<TakenIn>,
): Promise<TakenIn> {
  // Swept with the parts of other links, whose form the name has.
  const key = createHash('sha256').update(JSON.stringify(wanted)).digest('hex');
  const [lock, result] = [join(store.site.spool, `${key}.lock`), join(store.site.spool, `${key}.done`)];
  await mkdir(store.site.spool, { recursive: true });
  const before = await readIfThere(result);
  return whileLocked(lock, { mode: 'exclusive', waitMsMax: FETCH_MS_MAX, signal }, async () => {
    try {
      const after = await readIfThere(result);
      const stored = after === before ? null : await storedOf(store, after);
      if (stored !== null) return stored;
      const taken = await act();
      await replaceFile(result, JSON.stringify({ ...taken, id: randomBytes(8).toString('hex') }));
      return taken;
    } finally {
      await rm(lock, { force: true });
    }
  });
}

/** Null where it is no longer stored so. */
async function storedOf(store: SiteStore, text: string | null): Promise<TakenIn | null> {
  const { digest, version, createdAt } = membersOf<TakenIn>(text);
  if (typeof digest !== 'string' || typeof version !== 'string' || typeof createdAt !== 'string') return null;
  return (await store.label(version))?.digest === digest ? { digest, version, createdAt, unpacked: false } : null;
}
