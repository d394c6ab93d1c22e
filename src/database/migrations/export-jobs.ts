import { SCHEMA_NAME } from '../schema-name.ts';

/**
 * - `export_jobs`: `seq` is the order of arrival. `place` is 0, and below it for a job that was given back. `completion` is the order of
 *   completion. `run_id` and `run_retry` name the attempt that pg-boss held, of a running job, up to `EXPORT_JOB_LEASES`.
 * - `export_turns`: the number of each organization's last claim.
 */
export const EXPORT_JOBS = `
  CREATE TABLE ${SCHEMA_NAME}.export_jobs (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id TEXT NOT NULL UNIQUE,
    organization_id TEXT NOT NULL,
    domain TEXT NOT NULL,
    version TEXT,
    status TEXT NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'failed')),
    progress DOUBLE PRECISION NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
    page_count INTEGER NOT NULL DEFAULT 0,
    created_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL CHECK (updated_at_ms >= created_at_ms),
    place INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 0,
    run_id UUID,
    run_retry INTEGER,
    is_canceled BOOLEAN NOT NULL DEFAULT false,
    completion BIGINT,
    bundle_sha256 TEXT,
    bundle_size_bytes BIGINT,
    content_sha256 TEXT,
    error TEXT,
    paths TEXT,
    checkpoint TEXT,
    report TEXT
  );
  CREATE SEQUENCE ${SCHEMA_NAME}.export_completions;
  CREATE TABLE ${SCHEMA_NAME}.export_turns (organization_id TEXT PRIMARY KEY, last_claim BIGINT NOT NULL);

  CREATE INDEX export_listed ON ${SCHEMA_NAME}.export_jobs (organization_id, seq);
  CREATE INDEX export_listed_by_domain ON ${SCHEMA_NAME}.export_jobs (organization_id, domain, seq);
  CREATE INDEX export_queued ON ${SCHEMA_NAME}.export_jobs (domain, place, seq) WHERE status = 'queued';
  CREATE UNIQUE INDEX export_running ON ${SCHEMA_NAME}.export_jobs (domain) WHERE status = 'running';
  CREATE INDEX export_completed ON ${SCHEMA_NAME}.export_jobs (domain, completion) WHERE status = 'completed';
  CREATE INDEX export_completed_by_version ON ${SCHEMA_NAME}.export_jobs (organization_id, domain, version, completion)
    WHERE status = 'completed';
  CREATE INDEX export_ended ON ${SCHEMA_NAME}.export_jobs (updated_at_ms) WHERE status IN ('completed', 'failed');
`;

/** `traceparent`: of the call that the job was queued by. */
export const EXPORT_JOB_TRACES = `ALTER TABLE ${SCHEMA_NAME}.export_jobs ADD COLUMN traceparent TEXT`;

/** `error_next`: the advice, which `error` of a row with an `error_code` is without. */
export const EXPORT_JOB_FAULTS = `ALTER TABLE ${SCHEMA_NAME}.export_jobs ADD COLUMN error_code TEXT, ADD COLUMN error_next TEXT`;

/**
 * Leases are in the table of jobs, in place of pg-boss, which held those that run. Jobs that wait stay as they are; one that runs goes on a
 * lease later. `export_jobs` has the meaning of the columns from here on in `src/export/jobs/queue/statements.ts`.
 */
export const EXPORT_JOB_LEASES = `
  ALTER TABLE ${SCHEMA_NAME}.export_jobs DROP COLUMN run_id, DROP COLUMN run_retry, ADD COLUMN holder TEXT, ADD COLUMN leased_at_ms BIGINT,
    ALTER COLUMN is_canceled DROP DEFAULT, ALTER COLUMN is_canceled TYPE INTEGER USING is_canceled::int,
    ALTER COLUMN is_canceled SET DEFAULT 0;
  UPDATE ${SCHEMA_NAME}.export_jobs SET leased_at_ms = ${SCHEMA_NAME}.clock_us() / 1000 WHERE status = 'running';
  DROP SEQUENCE ${SCHEMA_NAME}.export_completions;
  DROP TABLE IF EXISTS ${['job', 'job_common', 'job_dependency', 'queue_stats', 'bam', 'schedule', 'subscription', 'version', 'warning', 'queue'].map((table) => `${SCHEMA_NAME}.${table}`).join(', ')} CASCADE;
  DROP ROUTINE IF EXISTS ${['create_queue', 'delete_queue', 'job_table_run_async', 'job_table_run', 'job_table_format', 'job_now'].map((routine) => `${SCHEMA_NAME}.${routine}`).join(', ')} CASCADE;
  DROP TYPE IF EXISTS ${SCHEMA_NAME}.job_state CASCADE`;
