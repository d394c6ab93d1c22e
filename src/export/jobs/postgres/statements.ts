import { statement } from '../../../database/statement.ts';

const JOBS = 'docshelf.export_jobs';
const TURNS = 'docshelf.export_turns';

/** As `JobRow` has them. */
const COLUMNS = `seq::float8 AS seq, job_id AS "jobId", organization_id AS "organizationId", domain, version, status, progress,
  page_count AS "pageCount", created_at_ms::float8 AS "createdAtMs", updated_at_ms::float8 AS "updatedAtMs", attempt,
  is_canceled::int AS "isCanceled", bundle_sha256 AS "bundleSha256", bundle_size_bytes::float8 AS "bundleSizeBytes",
  content_sha256 AS "contentSha256", error, error_code AS "errorCode", error_next AS "errorNext", paths, checkpoint,
  traceparent`;

const HELD = `job_id = :jobId AND attempt = :attempt AND status = 'running'`;

/** Times shown to people never go back. */
const TOUCHED = 'updated_at_ms = greatest(updated_at_ms, :nowMs::bigint)';

const list = (filter: string) =>
  statement(`SELECT ${COLUMNS} FROM ${JOBS} WHERE ${filter} seq < :before ORDER BY ${JOBS}.seq DESC LIMIT :limit`);
const listOf = (filter: string) => list(`organization_id = :organizationId AND ${filter}`);

/** Each finds its rows by an index, whatever the number of jobs. */
export const SQL = {
  /** Whoever adds for an organization waits here: how many wait, and whether this one does, holds until it has. */
  lockOrganization: statement(
    `SELECT pg_advisory_xact_lock(hashtext('docshelf.export_jobs'), hashtext(:organizationId))`,
  ),
  add: statement(`
    INSERT INTO ${JOBS} (job_id, organization_id, domain, version, paths, traceparent, created_at_ms, updated_at_ms)
    VALUES (:jobId, :organizationId, :domain, :version, :paths, :traceparent, :nowMs::bigint, :nowMs::bigint) RETURNING ${COLUMNS}`),
  equalQueued: statement(`
    SELECT ${COLUMNS} FROM ${JOBS} WHERE status = 'queued' AND domain = :domain AND organization_id = :organizationId
      AND version IS NOT DISTINCT FROM :version AND paths IS NOT DISTINCT FROM :paths ORDER BY ${JOBS}.seq LIMIT 1`),
  get: statement(`SELECT ${COLUMNS} FROM ${JOBS} WHERE job_id = :jobId`),
  report: statement(`SELECT report FROM ${JOBS} WHERE job_id = :jobId`),

  listOfAll: list(''),
  list: listOf(''),
  listOfDomain: listOf('domain = :domain AND'),
  listOfStatus: listOf('status = :status AND'),
  listOfDomainAndStatus: listOf('domain = :domain AND status = :status AND'),

  counts: statement(`
    SELECT count(*) FILTER (WHERE status = 'queued')::int AS queued, count(*) FILTER (WHERE status = 'running')::int AS running
    FROM ${JOBS} WHERE status IN ('queued', 'running') AND (:organizationId::text IS NULL OR organization_id = :organizationId)`),

  revision: statement(`
    SELECT (SELECT max(seq) FROM ${JOBS})::float8 AS newest,
      (SELECT max(updated_at_ms) FROM ${JOBS} WHERE status IN ('completed', 'failed'))::float8 AS "endedAtMs",
      count(*) FILTER (WHERE status = 'queued')::int AS queued, sum(progress) FILTER (WHERE status = 'running') AS progress,
      max(updated_at_ms)::float8 AS "movedAtMs"
    FROM ${JOBS} WHERE status IN ('queued', 'running')`),

  /** One claims at a time: whose turn it is, and which domains are free, holds until it has. */
  lockClaims: statement(`SELECT pg_advisory_xact_lock(hashtext('docshelf.export_turns'))`),
  // Reads the head of each domain's queue alone: 10,000 jobs that wait for one domain cost a claim as much as one.
  nextQueued: statement(`
    WITH RECURSIVE head (domain) AS (
      SELECT min(domain) FROM ${JOBS} WHERE status = 'queued'
      UNION ALL
      SELECT (SELECT min(later.domain) FROM ${JOBS} AS later WHERE later.status = 'queued' AND later.domain > head.domain)
      FROM head WHERE head.domain IS NOT NULL
    )
    SELECT job.job_id AS "jobId", job.organization_id AS "organizationId" FROM head
    JOIN LATERAL (
      SELECT * FROM ${JOBS} AS first WHERE first.status = 'queued' AND first.domain = head.domain
      ORDER BY first.place, first.seq LIMIT 1
    ) AS job ON true
    LEFT JOIN ${TURNS} AS turn ON turn.organization_id = job.organization_id
    WHERE NOT EXISTS (SELECT 1 FROM ${JOBS} AS other WHERE other.status = 'running' AND other.domain = head.domain)
    ORDER BY coalesce(turn.last_claim, 0), job.place, job.seq LIMIT 1`),
  takeTurn: statement(`
    INSERT INTO ${TURNS} VALUES (:organizationId, (SELECT coalesce(max(last_claim), 0) + 1 FROM ${TURNS}))
    ON CONFLICT (organization_id) DO UPDATE SET last_claim = excluded.last_claim`),
  begin: statement(`
    UPDATE ${JOBS} SET status = 'running', attempt = attempt + 1, run_id = :runId::uuid, run_retry = :runRetry, ${TOUCHED}
    WHERE job_id = :jobId AND status IN ('queued', 'running') RETURNING ${COLUMNS}`),

  /** What is gone from pg-boss's hands, by its run. */
  abandoned: statement(`SELECT ${COLUMNS} FROM ${JOBS} WHERE run_id = :runId::uuid AND status = 'running'`),
  held: statement(`
    SELECT run_id AS "runId", run_retry AS "runRetry", is_canceled AS "isCanceled" FROM ${JOBS} WHERE ${HELD}`),
  advance: statement(`
    UPDATE ${JOBS} SET progress = greatest(progress, :progress), page_count = greatest(page_count, :pageCount),
      checkpoint = coalesce(:checkpoint, checkpoint), ${TOUCHED} WHERE ${HELD} RETURNING job_id`),
  complete: statement(`
    UPDATE ${JOBS} SET status = 'completed', progress = 100, page_count = greatest(page_count, :pageCount), ${TOUCHED},
      checkpoint = NULL, report = :report, completion = nextval('docshelf.export_completions'), bundle_sha256 = :bundleSha256,
      bundle_size_bytes = :bundleSizeBytes::bigint, content_sha256 = :contentSha256
    WHERE ${HELD} AND NOT is_canceled RETURNING job_id`),
  fail: statement(`
    UPDATE ${JOBS} SET status = 'failed', error = CASE WHEN is_canceled THEN 'canceled' ELSE :error END,
      error_code = CASE WHEN is_canceled THEN 'canceled' ELSE :errorCode END,
      error_next = CASE WHEN is_canceled THEN NULL ELSE :errorNext END, ${TOUCHED}, checkpoint = NULL, report = :report
    WHERE ${HELD} RETURNING job_id`),
  release: statement(`
    UPDATE ${JOBS} SET status = 'queued', ${TOUCHED}, place = (
      SELECT coalesce(min(other.place), 0) - 1 FROM ${JOBS} AS other
      WHERE other.status = 'queued' AND other.organization_id = ${JOBS}.organization_id
    ) WHERE ${HELD} AND NOT is_canceled RETURNING job_id`),
  askToStop: statement(`
    UPDATE ${JOBS} SET is_canceled = true, ${TOUCHED} WHERE job_id = :jobId AND status = 'running' AND NOT is_canceled`),
  cancelQueued: statement(`
    UPDATE ${JOBS} SET status = 'failed', error = 'canceled', error_code = 'canceled', is_canceled = true, ${TOUCHED}, checkpoint = NULL
    WHERE job_id = :jobId AND status = 'queued'`),

  /** How an attempt has ended, where nobody could be told. */
  ended: statement(`SELECT status FROM ${JOBS} WHERE job_id = :jobId AND attempt = :attempt AND status <> 'running'`),

  lastCompleted: statement(`
    SELECT ${COLUMNS} FROM ${JOBS} WHERE status = 'completed' AND organization_id = :organizationId AND domain = :domain
      AND version IS NOT DISTINCT FROM :version ORDER BY completion DESC LIMIT 1`),
  prune: statement(`
    DELETE FROM ${JOBS} WHERE status IN ('completed', 'failed') AND updated_at_ms < :beforeMs::bigint AND NOT (
      status = 'completed' AND completion = (
        SELECT max(other.completion) FROM ${JOBS} AS other WHERE other.status = 'completed' AND other.domain = ${JOBS}.domain
      )
    ) RETURNING seq`),
  references: statement(`
    SELECT DISTINCT bundle_sha256 AS "bundleSha256", content_sha256 AS "contentSha256" FROM ${JOBS}
    WHERE status = 'completed'`),
} as const;
