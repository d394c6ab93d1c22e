import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError, errnoState, rethrowAs, toDocshelfError } from '../../domain/errors.ts';
import { refuseUnfitName } from '../../domain/file-name.ts';
import { membersOf } from '../../domain/shape.ts';
import { versionFromFileName } from '../../domain/version.ts';
import { ifThere } from '../../files/index.ts';
import type { SiteStore } from '../releases/site-store.ts';
import type { DeploySettings } from '../settings.ts';
import type { SiteContext } from '../site-context.ts';
import { digestOf, type Intake, type TakenIn } from './importer.ts';
import { stepBackOf } from './label.ts';
import { isArchiveName } from './signature.ts';
import { stampOf } from './staging.ts';

/** An unchanged archive is not hashed again. */
interface Seen {
  readonly stamp: string;
  readonly digest: string;
  readonly taken: PreloadedRelease | null;
}

export type PreloadedRelease = Omit<TakenIn, 'unpacked' | 'moved'>;

type PreloadTable = Record<string, Seen>;

export interface PreloadOptions {
  readonly store: SiteStore;
  readonly folder: string;
  readonly mayBeMissing: boolean;
  readonly pin: { readonly version: string | null; readonly sha256: string | null };
  readonly signal: AbortSignal;
  readonly take: (file: string, fileName: string, digest: string) => Promise<TakenIn>;
  readonly isWanted: (release: PreloadedRelease) => boolean;
}

/**
 * The pinned archive first. One whose size, time and inode are unchanged is left alone: its label may have moved on. A
 * refused archive or folder stands in no other's way.
 */
export async function takeInPreload(options: PreloadOptions) {
  const { store, folder, mayBeMissing, pin, signal, take, isWanted } = options;
  const before = await readTable(store);
  const table: PreloadTable = {};
  const releases: TakenIn[] = [];
  const failures: DocshelfError[] = [];
  const names = await archivesIn(folder, mayBeMissing).catch((error: unknown): string[] => {
    failures.push(toDocshelfError(error));
    return [];
  });
  const rankOf = (name: string): number => rank(name, before[join(folder, name)], pin);
  for (const name of names.toSorted((a, b) => rankOf(a) - rankOf(b))) {
    const file = join(folder, name);
    try {
      refuseUnfitName(name);
      const stamp = await stampOf(file);
      if (stamp === null) continue;
      const known = before[file]?.stamp === stamp ? before[file] : null;
      const digest = known?.digest ?? (await digestOf(file, name, signal));
      const former = known?.taken ?? null;
      table[file] = { stamp, digest, taken: former };
      const isStored = await isWhole(store, digest);
      if (former !== null && isStored && (await store.label(former.version)) !== null) {
        releases.push({ ...former, unpacked: false });
      } else if (former === null || isStored || isWanted(former)) {
        const { unpacked, ...taken } = await take(file, name, digest);
        table[file] = { stamp, digest, taken };
        releases.push({ ...taken, unpacked });
      }
    } catch (error) {
      signal.throwIfAborted();
      failures.push(toDocshelfError(error));
    }
  }
  if (JSON.stringify(table) !== JSON.stringify(before)) await store.setPreloadTable(JSON.stringify(table));
  return { releases, failures };
}

/** 0: the pinned version. 1: unknown, its manifest may say. 2: another. */
function rank(name: string, known: Seen | undefined, pin: PreloadOptions['pin']): 0 | 1 | 2 {
  if (pin.version === null) return 1;
  const version = known?.taken?.version ?? versionFromFileName(name);
  if (version === pin.version || (known !== undefined && known.digest === pin.sha256)) return 0;
  return version === null ? 1 : 2;
}

async function isWhole(store: SiteStore, digest: string): Promise<boolean> {
  try {
    if (!(await store.names()).has(digest)) return false;
    await store.view(digest, digest);
    return true;
  } catch (error) {
    if (error instanceof DocshelfError && error.code === 'release_damaged') return false;
    throw error;
  }
}

/** All plain files: what is no archive is refused by its content. */
async function archivesIn(folder: string, folderMayBeMissing: boolean): Promise<string[]> {
  const next = 'Set staticExport.preload to a folder that docshelf may read.';
  const entries = readdir(folder, { withFileTypes: true });
  const found = await (folderMayBeMissing ? ifThere(entries) : entries).catch(
    rethrowAs('cannot_read', `read the preload folder "${folder}"`, next, errnoState),
  );
  // A mounted ConfigMap or image volume shows its files as links into a dot folder.
  return (found ?? [])
    .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && isArchiveName(entry.name))
    .map((entry) => entry.name)
    .sort();
}

async function readTable(store: SiteStore): Promise<PreloadTable> {
  return membersOf<PreloadTable>(await store.preloadTable()) as PreloadTable;
}

export class PreloadRun {
  state: 'running' | 'done' = 'running';
  newest: (PreloadedRelease & { readonly isNew: boolean }) | null = null;
  readonly failures: DocshelfError[] = [];
  readonly done: Promise<void>;
  readonly #abort = new AbortController();
  readonly #key: string;

  constructor(context: SiteContext, intake: Intake, options: PreloadRunOptions) {
    this.#key = keyOf(context.settings());
    const signal = AbortSignal.any([this.#abort.signal, context.stopping]);
    this.done = this.#run(context, intake, options, signal);
  }

  goesOnFor(settings: DeploySettings): boolean {
    return this.state === 'running' && this.#key === keyOf(settings);
  }

  abort(): void {
    this.#abort.abort(new DocshelfError('stopping', 'Cannot go on: the settings have changed'));
  }

  async #run(
    { store, settings }: SiteContext,
    intake: Intake,
    { activeCreatedAt, after, onTaken, onEnd }: PreloadRunOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const { preload, version: pin, sha256 } = settings();
    await after;
    try {
      const { releases, failures } = await takeInPreload({
        store,
        folder: preload.dir,
        mayBeMissing: preload.mayBeMissing,
        pin: { version: pin, sha256 },
        signal,
        take: async (file, fileName, digest) => {
          const known = { file, fileName, digest, source: 'preload' } as const;
          const { moved: _, ...taken } = await intake.takeIn({ ...known, version: null, linkDigest: null, signal });
          await onTaken();
          return taken;
        },
        isWanted: ({ version, digest, createdAt }) =>
          pin === null ? createdAt > (activeCreatedAt ?? '') : version === pin || digest === sha256,
      });
      this.failures.push(...failures);
      for (const { unpacked, ...release } of releases.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))) {
        const isNewer = pin === null && release.createdAt > (activeCreatedAt ?? '');
        // After a rollback something newer than what is active may be older than what was.
        const refusal = isNewer ? await stepBackOf(store, release) : null;
        if (refusal === null) {
          this.newest = { ...release, isNew: unpacked };
          break;
        }
        if (unpacked) this.failures.push(refusal);
      }
    } catch (error) {
      if (!signal.aborted) this.failures.push(toDocshelfError(error));
    }
    this.state = 'done';
    onEnd();
  }
}

interface PreloadRunOptions {
  readonly activeCreatedAt: string | null;
  /** An aborted look that is not over yet; the loop must not wait for it, as it waits for the loop. */
  readonly after: Promise<void>;
  /** Resolves when what was taken in is served, if it is waited for. */
  readonly onTaken: () => Promise<void>;
  readonly onEnd: () => void;
}

function keyOf({ preload, version, sha256 }: DeploySettings): string {
  return JSON.stringify([preload.dir, preload.mayBeMissing, version, sha256]);
}
