import type { DeployStatus } from '../../deploy/index.ts';
import type { DeploymentType } from '../../domain/deployment.ts';

export interface LastReload {
  /** RFC 3339, UTC. */
  readonly at: string;
  readonly ok: boolean;
  /** What is wrong with the config, all faults in one text; null where it was taken. */
  readonly error: string | null;
}

export type SearchState = 'ready' | 'building' | 'off' | 'failed';

/** `GET /v1/status`, contract section 2. The last three keys are additions to it. */
export interface StatusReport
  extends Pick<
    DeployStatus,
    'state' | 'active' | 'pinned' | 'versions' | 'lastError' /* additions: */ | 'notices' | 'activity'
  > {
  readonly deployment: { readonly type: DeploymentType; readonly domain: string };
  readonly lastReload: LastReload | null;
  /** Keys of the config that differ from what runs and wait for a restart. */
  readonly pending: readonly string[];
  readonly search: {
    readonly keyword: SearchState;
    readonly semantic: SearchState;
    /** Sections in the index, and how many of them have an embedding. */
    readonly sections: number;
    readonly embedded: number;
  };
  /** Static exports. */
  readonly jobs: { readonly queued: number; readonly running: number };
  /** RFC 3339, UTC. */
  readonly startedAt: string;
  /** Of docshelf itself. */
  readonly programVersion: string;
}
