import type { SharedService } from './shared-service.ts';

/** A change of a job's status or attempt, recorded by the database. */
export interface JobChange {
  readonly jobId: string;
  readonly organization: string;
  readonly domain: string;
  /** Null if the job was added. */
  readonly former: string | null;
  readonly status: string;
  readonly attempt: number;
  /** Time of the change, before the transaction ended. */
  readonly atMs: number;
  /** Start of the transaction. */
  readonly beganMs: number;
  readonly committedMs: number;
}

/** Setting of PostgreSQL. */
export const KEEPS_COMMIT_TIMES = 'track_commit_timestamp=on';

const RECORD = `
  CREATE TABLE public.job_changes (
    seq BIGINT GENERATED ALWAYS AS IDENTITY, at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    began TIMESTAMPTZ NOT NULL DEFAULT now(), transaction xid NOT NULL DEFAULT pg_current_xact_id()::xid,
    job_id TEXT, organization_id TEXT, domain TEXT, former TEXT, status TEXT, attempt INTEGER
  );
  CREATE FUNCTION public.record_job_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'INSERT' OR (OLD.status, OLD.attempt) IS DISTINCT FROM (NEW.status, NEW.attempt) THEN
      INSERT INTO public.job_changes (job_id, organization_id, domain, former, status, attempt) VALUES
        (NEW.job_id, NEW.organization_id, NEW.domain, CASE TG_OP WHEN 'UPDATE' THEN OLD.status END, NEW.status, NEW.attempt);
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER recorded AFTER INSERT OR UPDATE ON docshelf.export_jobs FOR EACH ROW EXECUTE FUNCTION public.record_job_change()`;

/** Makes the database record changes, so that no process can omit its own or report undone ones. */
export const recordJobChanges = (service: SharedService): Promise<unknown> => service.query(RECORD);

/** Changes in their order. The server must have been started with {@link KEEPS_COMMIT_TIMES}. */
export async function jobChanges(service: SharedService): Promise<JobChange[]> {
  const rows = await service.query(`
    SELECT job_id AS "jobId", organization_id AS organization, domain, former, status, attempt,
      (extract(epoch FROM at) * 1000)::float8 AS "atMs", (extract(epoch FROM began) * 1000)::float8 AS "beganMs",
      (extract(epoch FROM pg_xact_commit_timestamp(transaction)) * 1000)::float8 AS "committedMs"
    FROM public.job_changes ORDER BY seq`);
  return rows as unknown as JobChange[];
}

/** Maximum time from the commit timestamp, which is taken before the write, until other sessions see the change. */
const SETTLED_MS = 1_000;

interface DomainState {
  readonly organization: string;
  /** Time when other sessions could see each job. */
  readonly queued: Map<string, number>;
  isRunning: boolean;
  freeSinceMs: number;
}

/**
 * Checks each claim of a waiting job against the rule: its organization is the one with the oldest last claim among
 * organizations with a job that may run. @returns claims that skipped an organization, and the number of claims with a choice
 */
export function claimsInTurn(changes: readonly JobChange[]): { readonly unfair: string[]; readonly choices: number } {
  const domains = new Map<string, DomainState>();
  const lastClaims = new Map<string, number>();
  const unfair: string[] = [];
  let claims = 0;
  let choices = 0;
  for (const { jobId, organization, domain, former, status, beganMs, committedMs } of changes) {
    const state = domains.get(domain) ?? { organization, queued: new Map(), isRunning: false, freeSinceMs: 0 };
    domains.set(domain, state);
    if (former === 'queued' && status === 'running') {
      const own = lastClaims.get(organization) ?? 0;
      const waiting = new Set(
        [...domains.values()].filter((each) => isRunnable(each, beganMs)).map((each) => each.organization),
      );
      waiting.delete(organization);
      const before = [...waiting].filter((other) => (lastClaims.get(other) ?? 0) < own);
      if (waiting.size > 0) choices += 1;
      if (before.length > 0) unfair.push(`claim ${claims + 1}, of ${organization}, before ${before}`);
      claims += 1;
      lastClaims.set(organization, claims);
    }
    if (status === 'queued') state.queued.set(jobId, committedMs);
    else state.queued.delete(jobId);
    if (status === 'running') state.isRunning = true;
    else if (former === 'running') Object.assign(state, { isRunning: false, freeSinceMs: committedMs });
  }
  return { unfair, choices };
}

function isRunnable({ queued, isRunning, freeSinceMs }: DomainState, beganMs: number): boolean {
  const settledMs = beganMs - SETTLED_MS;
  return !isRunning && freeSinceMs <= settledMs && [...queued.values()].some((addedMs) => addedMs <= settledMs);
}
