import { type Statement, statement } from '../../../database/statement.ts';

interface Dialect {
  readonly jobs: string;
  readonly turns: string;
  readonly greatest: string;
  readonly clockMs: string;
  /** Clause that makes a claim skip a job that another transaction is changing, for example to cancel the job. */
  readonly skipLocked: string;
  readonly lockOrganization: string;
  readonly lockClaims: string;
}

/**
 * Each statement finds its rows by an index, whatever the number of jobs.
 * - `jobs`: `seq` is the order of arrival. `place` is 0, or negative for a released job, which runs first. `completion` counts
 *   the completed jobs of a domain. `leased_at_ms` is the time of the last sign of life from `holder` (JSON, `Holder`); null if
 *   that process is dead.
 * - `turns`: `last_claim` numbers the claims of all organizations. The organization with the lowest number is next.
 */
function jobStatements({ jobs, turns, greatest, clockMs, skipLocked, ...locks }: Dialect) {
  const columns = `CAST(seq AS FLOAT) AS seq, job_id AS "jobId", organization_id AS "organizationId", domain, version, status, progress,
    page_count AS "pageCount", CAST(created_at_ms AS FLOAT) AS "createdAtMs", CAST(updated_at_ms AS FLOAT) AS "updatedAtMs", attempt,
    is_canceled AS "isCanceled", bundle_sha256 AS "bundleSha256", CAST(bundle_size_bytes AS FLOAT) AS "bundleSizeBytes",
    content_sha256 AS "contentSha256", error, error_code AS "errorCode", error_next AS "errorNext", paths, checkpoint, traceparent`;
  const candidate = `CAST(job.seq AS FLOAT) AS seq, job.job_id AS "jobId", job.organization_id AS "organizationId", job.status, job.attempt,
    job.is_canceled AS "isCanceled"`;
  const held = `job_id = :jobId AND attempt = :attempt AND status = 'running'`;
  const touched = `updated_at_ms = ${greatest}(updated_at_ms, :nowMs)`;
  const list = (filter: string) =>
    `SELECT ${columns} FROM ${jobs} AS job WHERE ${filter} job.seq < :before ORDER BY job.seq DESC LIMIT :limit`;
  const listOf = (filter: string) => list(`organization_id = :organizationId AND ${filter}`);
  const count = (status: string, filter: string) =>
    `(SELECT CAST(count(*) AS INTEGER) FROM ${jobs} WHERE status = '${status}' ${filter}) AS ${status}`;
  const prune = (isOld: string) => `
    DELETE FROM ${jobs} WHERE seq IN (
      SELECT seq FROM ${jobs} AS job WHERE status IN ('completed', 'failed') AND ${isOld} AND NOT (
        status = 'completed' AND completion = (
          SELECT max(completion) FROM ${jobs} AS other WHERE other.status = 'completed' AND other.domain = job.domain
        )
      ) LIMIT :limit
    ) RETURNING seq`;
  const counts = (filter = '') => `SELECT ${count('queued', filter)}, ${count('running', filter)}`;

  return {
    ...locks,
    add: `
      INSERT INTO ${jobs} (job_id, organization_id, domain, version, paths, traceparent, created_at_ms, updated_at_ms)
      VALUES (:jobId, :organizationId, :domain, :version, :paths, :traceparent, :nowMs, :nowMs) RETURNING ${columns}`,
    equalQueued: `
      SELECT ${columns} FROM ${jobs} AS job WHERE status = 'queued' AND domain = :domain AND organization_id = :organizationId
        AND version IS NOT DISTINCT FROM :version AND paths IS NOT DISTINCT FROM :paths ORDER BY job.place, job.seq LIMIT 1`,
    get: `SELECT ${columns} FROM ${jobs} WHERE job_id = :jobId`,
    report: `SELECT report FROM ${jobs} WHERE job_id = :jobId`,

    listOfAll: list(''),
    list: listOf(''),
    listOfDomain: listOf('domain = :domain AND'),
    listOfStatus: listOf('status = :status AND'),
    listOfDomainAndStatus: listOf('domain = :domain AND status = :status AND'),

    counts: counts(),
    countsOf: counts('AND organization_id = :organizationId'),
    revision: `
      SELECT ${count('queued', '')}, (SELECT max(seq) FROM ${jobs}) AS newest,
        (SELECT max(updated_at_ms) FROM ${jobs} WHERE status IN ('completed', 'failed')) AS ended,
        (SELECT sum(progress) FROM ${jobs} WHERE status = 'running') AS progress,
        (SELECT max(updated_at_ms) FROM ${jobs} WHERE status = 'running') AS moved`,

    holders: `SELECT DISTINCT holder FROM ${jobs} WHERE status = 'running' AND holder IS NOT NULL`,
    endLeases: `UPDATE ${jobs} SET leased_at_ms = NULL, holder = NULL WHERE status = 'running' AND holder = :holder`,
    // After a restart or a clock change, `leased_at_ms` can be in the future. `abs` expires leases that are `leaseMs` or more ahead.
    nextAbandoned: `
      SELECT ${candidate} FROM ${jobs} AS job
      WHERE status = 'running' AND (leased_at_ms IS NULL OR abs(${clockMs} - leased_at_ms) >= :leaseMs)
      ORDER BY +job.seq LIMIT 1 ${skipLocked}`,
    // Read only the first job of each domain, so that 10,000 waiting jobs of one domain do not slow down a claim.
    nextQueued: `
      WITH RECURSIVE head (domain) AS (
        SELECT min(domain) FROM ${jobs} WHERE status = 'queued'
        UNION ALL
        SELECT (SELECT min(later.domain) FROM ${jobs} AS later WHERE later.status = 'queued' AND later.domain > head.domain)
        FROM head WHERE head.domain IS NOT NULL
      )
      SELECT ${candidate} FROM head
      JOIN ${jobs} AS job ON job.seq = (
        SELECT first.seq FROM ${jobs} AS first WHERE first.status = 'queued' AND first.domain = head.domain
        ORDER BY first.place, first.seq LIMIT 1
      )
      LEFT JOIN ${turns} AS turn ON turn.organization_id = job.organization_id
      WHERE job.status = 'queued'
        AND NOT EXISTS (SELECT 1 FROM ${jobs} AS other WHERE other.status = 'running' AND other.domain = head.domain)
      ORDER BY coalesce(turn.last_claim, 0), job.place, job.seq LIMIT 1 ${skipLocked}`,
    takeTurn: `
      INSERT INTO ${turns} VALUES (:organizationId, (SELECT coalesce(max(last_claim), 0) + 1 FROM ${turns}))
      ON CONFLICT (organization_id) DO UPDATE SET last_claim = excluded.last_claim`,
    begin: `
      UPDATE ${jobs} SET status = 'running', attempt = attempt + 1, holder = :holder, leased_at_ms = ${clockMs}, ${touched}
      WHERE seq = :seq RETURNING ${columns}`,

    renew: `UPDATE ${jobs} SET leased_at_ms = ${clockMs} WHERE ${held} RETURNING is_canceled AS "isCanceled"`,
    advance: `
      UPDATE ${jobs} SET leased_at_ms = ${clockMs}, progress = ${greatest}(progress, :progress),
        page_count = ${greatest}(page_count, :pageCount), checkpoint = coalesce(:checkpoint, checkpoint), ${touched}
      WHERE ${held} RETURNING job_id`,
    complete: `
      UPDATE ${jobs} AS job SET status = 'completed', progress = 100, page_count = ${greatest}(page_count, :pageCount), ${touched},
        holder = NULL, checkpoint = NULL, report = :report, bundle_sha256 = :bundleSha256, bundle_size_bytes = :bundleSizeBytes,
        content_sha256 = :contentSha256, completion = (
          SELECT coalesce(max(other.completion), 0) + 1 FROM ${jobs} AS other
          WHERE other.status = 'completed' AND other.domain = job.domain
        )
      WHERE ${held} AND is_canceled = 0 RETURNING job_id`,
    fail: `
      UPDATE ${jobs} SET status = 'failed', error = CASE WHEN is_canceled = 1 THEN 'canceled' ELSE :error END,
        error_code = CASE WHEN is_canceled = 1 THEN 'canceled' ELSE :errorCode END,
        error_next = CASE WHEN is_canceled = 1 THEN NULL ELSE :errorNext END, ${touched}, holder = NULL, checkpoint = NULL,
        report = :report
      WHERE ${held} RETURNING job_id`,
    release: `
      UPDATE ${jobs} AS job SET status = 'queued', holder = NULL, ${touched}, place = (
        SELECT coalesce(min(other.place), 0) - 1 FROM ${jobs} AS other
        WHERE other.status = 'queued' AND other.organization_id = job.organization_id
      ) WHERE ${held} AND is_canceled = 0 RETURNING job_id`,
    cancel: `
      UPDATE ${jobs} SET is_canceled = 1, ${touched}, checkpoint = CASE WHEN status = 'queued' THEN NULL ELSE checkpoint END,
        error = CASE WHEN status = 'queued' THEN 'canceled' END, error_code = CASE WHEN status = 'queued' THEN 'canceled' END,
        status = CASE WHEN status = 'queued' THEN 'failed' ELSE status END
      WHERE job_id = :jobId AND status IN ('queued', 'running') AND is_canceled = 0`,
    ended: `SELECT status FROM ${jobs} WHERE job_id = :jobId AND attempt = :attempt AND status <> 'running'`,

    lastCompleted: `
      SELECT ${columns} FROM ${jobs} WHERE status = 'completed' AND organization_id = :organizationId AND domain = :domain
        AND version IS NOT DISTINCT FROM :version ORDER BY completion DESC LIMIT 1`,
    pruneOlder: prune('updated_at_ms < :beforeMs'),
    pruneBeyond: prune(`seq IN (
      SELECT seq FROM (
        SELECT seq, row_number() OVER (PARTITION BY organization_id, domain, status ORDER BY seq DESC) AS nth
        FROM ${jobs} WHERE status IN ('completed', 'failed')
      ) AS counted WHERE nth > :newest
    )`),
    references: `
      SELECT CAST(job.seq AS FLOAT) AS seq, bundle_sha256 AS "bundleSha256", content_sha256 AS "contentSha256" FROM ${jobs} AS job
      WHERE status = 'completed' AND job.seq > :after ORDER BY job.seq LIMIT :limit`,
  };
}

export type JobStatements = Readonly<Record<keyof ReturnType<typeof jobStatements>, Statement>>;

const prepared = (dialect: Dialect): JobStatements =>
  Object.fromEntries(
    Object.entries(jobStatements(dialect)).map(([name, sql]) => [name, statement(sql)]),
  ) as unknown as JobStatements;

export const POSTGRES_STATEMENTS = prepared({
  jobs: 'docshelf.export_jobs',
  turns: 'docshelf.export_turns',
  greatest: 'greatest',
  clockMs: 'docshelf.clock_us() / 1000',
  skipLocked: 'FOR UPDATE OF job SKIP LOCKED',
  lockOrganization: `SELECT pg_advisory_xact_lock(hashtext('docshelf.export_jobs'), hashtext(:organizationId))`,
  lockClaims: `SELECT pg_advisory_xact_lock(hashtext('docshelf.export_turns'))`,
});

export const SQLITE_STATEMENTS = prepared({
  jobs: 'jobs',
  turns: 'turns',
  greatest: 'max',
  clockMs: 'clock_ms()',
  skipLocked: '',
  lockOrganization: 'SELECT 1',
  lockClaims: 'SELECT 1',
});
