import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError, errnoState, rethrowAs, toDocshelfError } from '../../domain/errors.ts';
import { refuseUnfitName } from '../../domain/file-name.ts';
import { membersOf } from '../../domain/shape.ts';
import { versionFromFileName } from '../../domain/version.ts';
import { ifThere } from '../../files/index.ts';
import type { Progress } from '../plan.ts';
import type { SiteStore } from '../releases/site-store.ts';
import type { DeploySettings } from '../settings.ts';
import type { SiteContext } from '../site-context.ts';
import { digestOf, type ImportedBundle, type Importer } from './importer.ts';
import { downgradeErrorOf } from './label.ts';
import { isArchiveName } from './signature.ts';
import { stampOf } from './staging.ts';

interface Seen {
  readonly stamp: string;
  readonly digest: string;
  readonly taken: PreloadedRelease | null;
}

type PreloadedRelease = Omit<ImportedBundle, 'unpacked' | 'moved'>;

type PreloadTable = Record<string, Seen>;

type PreloadSettings = Pick<DeploySettings, 'preload' | 'version' | 'sha256'>;

interface PreloadRequest {
  readonly store: SiteStore;
  readonly settings: PreloadSettings;
  /** Returns true if the release was created after the active release. */
  readonly isNewer: (release: PreloadedRelease) => boolean;
  readonly importArchive: (file: string, fileName: string, digest: string) => Promise<ImportedBundle>;
  readonly signal: AbortSignal;
}

/**
 * Imports the archives of the preload folder, the pinned version first. Skips unchanged archives, so that no version label
 * moves back to an older bundle.
 */
export async function importPreload({ store, settings, isNewer, importArchive, signal }: PreloadRequest) {
  const { preload, version: pin, sha256 } = settings;
  const before = membersOf<PreloadTable>(await store.preloadTable()) as PreloadTable;
  const table: PreloadTable = {};
  const releases: ImportedBundle[] = [];
  const failures: DocshelfError[] = [];
  const names = await archivesIn(preload).catch((error: unknown): string[] => {
    failures.push(toDocshelfError(error));
    return [];
  });
  const isWanted = (release: PreloadedRelease): boolean =>
    pin === null ? isNewer(release) : release.version === pin || release.digest === sha256;
  const rankOf = (name: string): number => rank(name, before[join(preload.dir, name)], settings);
  for (const name of names.toSorted((a, b) => rankOf(a) - rankOf(b))) {
    const file = join(preload.dir, name);
    try {
      refuseUnfitName(name);
      const stamp = await stampOf(file);
      if (stamp === null) continue;
      const known = before[file]?.stamp === stamp ? before[file] : null;
      const digest = known?.digest ?? (await digestOf(file, name, signal));
      const former = known?.taken ?? null;
      table[file] = { stamp, digest, taken: former };
      const isStored = (await store.names()).has(digest) && (await store.isWhole(digest));
      if (former !== null && isStored && (await store.label(former.version)) !== null) {
        releases.push({ ...former, unpacked: false });
      } else if (former === null || isStored || isWanted(former)) {
        const { unpacked, moved: _, ...taken } = await importArchive(file, name, digest);
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

/**
 * Rank of an archive in the order of imports: 0 for the pinned version or digest, 1 for a version that only the manifest
 * names, 2 for another version.
 */
function rank(name: string, known: Seen | undefined, { version: pin, sha256 }: PreloadSettings): 0 | 1 | 2 {
  if (pin === null) return 1;
  const version = known?.taken?.version ?? versionFromFileName(name);
  if (version === pin || (known !== undefined && known.digest === sha256)) return 0;
  return version === null ? 1 : 2;
}

async function archivesIn({ dir, mayBeMissing }: DeploySettings['preload']): Promise<string[]> {
  const next = 'Set staticExport.preload to a folder that docshelf can read.';
  const entries = readdir(dir, { withFileTypes: true });
  const found = await (mayBeMissing ? ifThere(entries) : entries).catch(
    rethrowAs('cannot_read', `read the preload folder "${dir}"`, next, errnoState),
  );
  // Include symbolic links, because the files of a mounted ConfigMap or image volume are links into a dot folder.
  return (found ?? [])
    .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && isArchiveName(entry.name))
    .map((entry) => entry.name)
    .sort();
}

interface PreloadResult {
  readonly newest: Progress['preloaded'];
  readonly failures: readonly DocshelfError[];
}

type Round =
  | { readonly state: 'due' }
  | { readonly state: 'running'; readonly settings: DeploySettings; readonly abort: AbortController }
  | ({ readonly state: 'done' } & PreloadResult);

const DUE: Round = { state: 'due' };

export class Preload {
  /** Resolves when the previous import run has ended, which can be a while after its abort. The next run waits for this promise. */
  done: Promise<void> = Promise.resolve();
  readonly #context: SiteContext;
  readonly #importer: Importer;
  readonly #end: PreloadEnd;
  #round = DUE;

  constructor(context: SiteContext, importer: Importer, end: PreloadEnd) {
    this.#context = context;
    this.#importer = importer;
    this.#end = end;
  }

  get state(): Progress['preload'] {
    return this.#round.state;
  }

  get newest(): Progress['preloaded'] {
    return this.#round.state === 'done' ? this.#round.newest : null;
  }

  /** Returns the failed imports of the preload folder once, so that each failure is reported only once. */
  takeFailures(): readonly DocshelfError[] {
    if (this.#round.state !== 'done') return [];
    const { failures } = this.#round;
    this.#round = { ...this.#round, failures: [] };
    return failures;
  }

  beginRound(): void {
    if (this.#round.state === 'running') {
      const { settings, abort } = this.#round;
      if (keyOf(settings) === keyOf(this.#context.settings)) return;
      const state = 'the config was reloaded with other settings';
      abort.abort(new DocshelfError('stopping', `Cannot finish the import of the preload folder: ${state}`));
    }
    this.#round = DUE;
  }

  start(activeCreatedAt: string | null): void {
    const { settings, stopping } = this.#context;
    const round = { state: 'running', settings, abort: new AbortController() } as const;
    this.#round = round;
    const signal = AbortSignal.any([round.abort.signal, stopping]);
    this.done = this.done.then(async () => {
      const result = await this.#read(settings, activeCreatedAt, signal);
      if (this.#round === round) this.#round = { state: 'done', ...result };
      this.#end.onEnd();
    });
  }

  async #read(settings: DeploySettings, activeCreatedAt: string | null, signal: AbortSignal): Promise<PreloadResult> {
    const { store } = this.#context;
    const isNewer = ({ createdAt }: PreloadedRelease): boolean => createdAt > (activeCreatedAt ?? '');
    const failures: DocshelfError[] = [];
    try {
      const found = await importPreload({
        store,
        settings,
        isNewer,
        importArchive: async (file, fileName, digest) => {
          const archive = { file, fileName, digest, source: 'preload', version: null, linkDigest: null } as const;
          const imported = await this.#importer.import({ ...archive, signal });
          await this.#end.onImported();
          return imported;
        },
        signal,
      });
      failures.push(...found.failures);
      for (const { unpacked, ...release } of found.releases.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))) {
        // Compare the creation time with all releases that were ever active, because after a rollback, the active release may
        // not be the newest of them.
        const refusal = settings.version === null && isNewer(release) ? await downgradeErrorOf(store, release) : null;
        if (refusal === null) return { newest: { ...release, isNew: unpacked }, failures };
        if (unpacked) failures.push(refusal);
      }
    } catch (error) {
      if (!signal.aborted) failures.push(toDocshelfError(error));
    }
    return { newest: null, failures };
  }
}

interface PreloadEnd {
  readonly onImported: () => Promise<void>;
  readonly onEnd: () => void;
}

function keyOf({ preload, version, sha256 }: DeploySettings): string {
  return JSON.stringify([preload.dir, preload.mayBeMissing, version, sha256]);
}
