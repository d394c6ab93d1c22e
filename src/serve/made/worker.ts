import { HandedOver, serve } from '../../threads/index.ts';
import { addToPage } from '../../web/additions/add-to-page.ts';
import type { PageAdditions } from '../../web/additions/page-additions.ts';
import { integrityTargets, type Mount, type MountableFile, mountFile } from '../../web/mount/index.ts';

/** Rewrites files: for another base path a page of 868 KiB takes 114 ms (measured), for which no request may wait. */

export interface MountOrder {
  readonly file: MountableFile;
  readonly mount: Mount;
  /** Paths that are neither file nor page of the site. The table stays where it is: it may have 500,000. */
  readonly absent: ReadonlySet<string>;
  /** `integrity` of changed targets, by address. */
  readonly digests: ReadonlyMap<string, string>;
}

export interface MountAnswer {
  /** Null where nothing changes. */
  readonly bytes: Uint8Array | null;
  /** Paths that were taken for files or pages of the site: where one is none, the answer does not hold. */
  readonly presumed: ReadonlySet<string>;
  readonly integrity: ReturnType<typeof integrityTargets>;
}

export interface AddOrder {
  readonly page: Uint8Array;
  /** Media type with its charset. */
  readonly type: string;
  readonly additions: PageAdditions;
}

const handlers = {
  /** Null where nothing is added. */
  add: ({ page, type, additions }: AddOrder) => {
    const added = addToPage(page, type, additions);
    return added === page ? null : new HandedOver(added, [added.buffer as ArrayBuffer]);
  },
  mount: ({ file, mount, absent, digests }: MountOrder) => {
    const presumed = new Set<string>();
    const has = (path: string): boolean => {
      if (absent.has(path)) return false;
      presumed.add(path);
      return true;
    };
    const mounted = mountFile(file, { ...mount, has }, (url) => digests.get(url) ?? null);
    const bytes = mounted === file.bytes ? null : mounted;
    const answer: MountAnswer = { bytes, presumed, integrity: integrityTargets(file) };
    return new HandedOver(answer, bytes === null ? [] : [bytes.buffer as ArrayBuffer]);
  },
};
export type MountCalls = typeof handlers;

serve(handlers);
