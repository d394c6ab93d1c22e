import { serve } from '../../threads/index.ts';
import { addToPage } from '../../web/additions/add-to-page.ts';
import type { PageAdditions } from '../../web/additions/page-additions.ts';
import type { Mount, MountableFile } from '../../web/mount/base-path.ts';
import { integrityTargets, mountFile } from '../../web/mount/index.ts';

/** Files are rewritten in this thread, because a page of 868 KiB takes 114 ms (measured). */

interface MountRequest {
  readonly file: MountableFile;
  readonly mount: Mount;
  /** Paths that the rewriter wrongly assumed to exist. Sent instead of the file table, which can have 500,000 entries. */
  readonly absent: ReadonlySet<string>;
  /** Changed values of the attribute `integrity`, by the address of the linked file. */
  readonly digests: ReadonlyMap<string, string>;
}

export interface MountAnswer {
  readonly bytes: Uint8Array | null;
  /** Paths that the rewriter assumed to be files or pages of the site. If a path is neither, `bytes` is wrong. */
  readonly presumed: ReadonlySet<string>;
  readonly integrity: ReturnType<typeof integrityTargets>;
}

interface AddRequest {
  readonly page: Uint8Array;
  readonly type: string;
  readonly additions: PageAdditions;
}

const handlers = {
  add: ({ page, type, additions }: AddRequest) => {
    const added = addToPage(page, type, additions);
    return added === page ? null : added;
  },
  mount: ({ file, mount, absent, digests }: MountRequest): MountAnswer => {
    const presumed = new Set<string>();
    const has = (path: string): boolean => {
      if (absent.has(path)) return false;
      presumed.add(path);
      return true;
    };
    const mounted = mountFile(file, { ...mount, has }, (url) => digests.get(url) ?? null);
    const bytes = mounted === file.bytes ? null : mounted;
    return { bytes, presumed, integrity: integrityTargets(file) };
  },
};
export type MountCalls = typeof handlers;

serve(handlers);
