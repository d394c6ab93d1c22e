import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { JOB_COLUMNS } from './row.ts';

const HELD = `jobId = :jobId AND attempt = :attempt AND status = 'running'`;

/** Times shown to people never go back. */
const TOUCHED = 'updatedAtMs = max(updatedAtMs, :nowMs)';

const list = (filter: string) => `
  SELECT ${JOB_COLUMNS} FROM jobs WHERE ${filter} seq < :before ORDER BY seq DESC LIMIT :limit`;
const listOf = (filter: string) => list(`organizationId = :organizationId AND ${filter}`);

/** Each finds its rows by an index, whatever the number of jobs. */
export const SQL = {
  add: `
    INSERT INTO jobs (jobId, organizationId, domain, version, paths, traceparent, createdAtMs, updatedAtMs)
    VALUES (:jobId, :organizationId, :domain, :version, :paths, :traceparent, :nowMs, :nowMs) RETURNING ${JOB_COLUMNS}`,
  equalQueued: `
    SELECT ${JOB_COLUMNS} FROM jobs WHERE status = 'queued' AND domain = :domain AND organizationId = :organizationId
      AND version IS :version AND paths IS :paths ORDER BY seq LIMIT 1`,
  get: `SELECT ${JOB_COLUMNS} FROM jobs WHERE jobId = :jobId`,
  report: 'SELECT report FROM jobs WHERE jobId = :jobId',

  listOfAll: list(''),
  list: listOf(''),
  listOfDomain: listOf('domain = :domain AND'),
  listOfStatus: listOf('status = :status AND'),
  listOfDomainAndStatus: listOf('domain = :domain AND status = :status AND'),

  countQueued: "SELECT count(*) AS jobs FROM jobs WHERE status = 'queued'",
  countQueuedOf: "SELECT count(*) AS jobs FROM jobs WHERE status = 'queued' AND organizationId = :organizationId",
  countRunning: "SELECT count(*) AS jobs FROM jobs WHERE status = 'running'",
  countRunningOf: "SELECT count(*) AS jobs FROM jobs WHERE status = 'running' AND organizationId = :organizationId",

  revision: `
    SELECT (SELECT max(seq) FROM jobs) AS newest, (SELECT count(*) FROM jobs WHERE status = 'queued') AS queued,
      (SELECT max(updatedAtMs) FROM jobs INDEXED BY ended WHERE status IN ('completed', 'failed')) AS endedAtMs,
      total(progress) AS progress, max(updatedAtMs) AS movedAtMs
    FROM jobs INDEXED BY running WHERE status = 'running'`,
  // Left to itself, SQLite reads the whole table for its order.
  running: `
    SELECT seq, jobId, attempt, heartbeat, holder, isCanceled FROM jobs INDEXED BY running WHERE status = 'running'
    ORDER BY seq`,
  // Reads the head of each domain's queue alone: 10,000 jobs that wait for one domain cost a claim as much as one.
  nextQueued: `
    WITH RECURSIVE head (domain) AS (
      SELECT min(domain) FROM jobs WHERE status = 'queued'
      UNION ALL
      SELECT (SELECT min(later.domain) FROM jobs AS later WHERE later.status = 'queued' AND later.domain > head.domain)
      FROM head WHERE head.domain IS NOT NULL
    )
    SELECT jobs.seq, jobs.organizationId FROM head
    JOIN jobs ON jobs.seq = (
      SELECT first.seq FROM jobs AS first WHERE first.status = 'queued' AND first.domain = head.domain
      ORDER BY first.place, first.seq LIMIT 1
    )
    LEFT JOIN turns USING (organizationId)
    WHERE NOT EXISTS (SELECT 1 FROM jobs AS other WHERE other.status = 'running' AND other.domain = head.domain)
    ORDER BY coalesce(turns.lastClaim, 0), jobs.place, jobs.seq LIMIT 1`,
  takeTurn: `
    INSERT INTO turns VALUES (:organizationId, (SELECT coalesce(max(lastClaim), 0) + 1 FROM turns))
    ON CONFLICT DO UPDATE SET lastClaim = excluded.lastClaim`,
  begin: `
    UPDATE jobs SET status = 'running', attempt = attempt + 1, heartbeat = 0, holder = :holder, ${TOUCHED}
    WHERE seq = :seq RETURNING ${JOB_COLUMNS}`,

  renew: `UPDATE jobs SET heartbeat = heartbeat + 1 WHERE ${HELD} RETURNING isCanceled`,
  advance: `
    UPDATE jobs SET heartbeat = heartbeat + 1, progress = max(progress, :progress), pageCount = max(pageCount, :pageCount),
      checkpoint = coalesce(:checkpoint, checkpoint), ${TOUCHED} WHERE ${HELD}`,
  complete: `
    UPDATE jobs SET status = 'completed', progress = 100, pageCount = max(pageCount, :pageCount), ${TOUCHED},
      holder = NULL, checkpoint = NULL, report = :report,
      completion = (SELECT coalesce(max(completion), 0) + 1 FROM jobs WHERE status = 'completed'),
      bundleSha256 = :bundleSha256, bundleSizeBytes = :bundleSizeBytes, contentSha256 = :contentSha256
    WHERE ${HELD} AND NOT isCanceled`,
  fail: `
    UPDATE jobs SET status = 'failed', error = iif(isCanceled, 'canceled', :error),
      errorCode = iif(isCanceled, 'canceled', :errorCode), errorNext = iif(isCanceled, NULL, :errorNext), ${TOUCHED},
      holder = NULL, checkpoint = NULL, report = :report
    WHERE ${HELD}`,
  release: `
    UPDATE jobs SET status = 'queued', holder = NULL, ${TOUCHED}, place = (
      SELECT coalesce(min(place), 0) - 1 FROM jobs AS other
      WHERE other.status = 'queued' AND other.organizationId = jobs.organizationId
    ) WHERE ${HELD} AND NOT isCanceled`,
  askToStop: `
    UPDATE jobs SET isCanceled = 1, ${TOUCHED} WHERE jobId = :jobId AND status = 'running' AND NOT isCanceled`,
  cancelQueued: `
    UPDATE jobs SET status = 'failed', error = 'canceled', errorCode = 'canceled', isCanceled = 1, ${TOUCHED}, checkpoint = NULL
    WHERE jobId = :jobId AND status = 'queued'`,

  lastCompleted: `
    SELECT ${JOB_COLUMNS} FROM jobs
    WHERE status = 'completed' AND organizationId = :organizationId AND domain = :domain AND version IS :version
    ORDER BY completion DESC LIMIT 1`,
  prune: `
    DELETE FROM jobs WHERE seq IN (
      SELECT seq FROM jobs WHERE status IN ('completed', 'failed') AND updatedAtMs < :beforeMs AND NOT (
        status = 'completed' AND completion = (
          SELECT max(completion) FROM jobs AS other WHERE other.status = 'completed' AND other.domain = jobs.domain
        )
      ) LIMIT :limit
    )`,
  references: `
    SELECT completion, bundleSha256, contentSha256 FROM jobs WHERE status = 'completed' AND completion > :after
    ORDER BY completion LIMIT :limit`,
} as const;

export type Statements = Readonly<Record<keyof typeof SQL, StatementSync>>;

export function prepareStatements(database: DatabaseSync): Statements {
  const prepared = Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)]);
  return Object.fromEntries(prepared) as Statements;
}
