import { SCHEMA_NAME } from './statement.ts';

/** Table of export jobs. `jobStatements()` explains its columns, except `run_id` and `run_retry`, which `EXPORT_JOB_LEASES` drops. */
const EXPORT_JOBS = `
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

/**
 * - `api_keys`: keys created at run time, each as a digest. Times are in RFC 3339.
 * - `api_key_revision`: one row. Each change of a key sets a new random value, so that a restored backup never repeats a value.
 * - `api_key_uses`: time of the last use of each key, including keys in the config.
 */
const API_KEYS = `
  CREATE TABLE ${SCHEMA_NAME}.api_keys (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    organization_id TEXT NOT NULL,
    type TEXT NOT NULL CHECK (type IN ('admin', 'assistant')),
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL UNIQUE CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    created_at TEXT NOT NULL,
    expires_at TEXT
  );
  CREATE TABLE ${SCHEMA_NAME}.api_key_revision (revision UUID NOT NULL);
  INSERT INTO ${SCHEMA_NAME}.api_key_revision VALUES (gen_random_uuid());
  CREATE TABLE ${SCHEMA_NAME}.api_key_uses (sha256 TEXT PRIMARY KEY, used_at TIMESTAMPTZ NOT NULL)`;

/**
 * - `request_totals`: one row per organization, which `take_requests` locks. `taken` counts all allowed requests. `dropped` counts
 *   the allowed requests that were older than the window at the last call.
 * - `request_times`: one row per call that allowed requests. `taken_before` is the value of `taken` before the call. The number
 *   of requests in the window is `taken` minus `taken_before` of the oldest row in the window.
 * `take_requests` is one function, so that no network round trip happens while the row is locked. PostgreSQL can reuse plans that
 * it made for few rows. The SET clauses exclude plans that are slow with ten thousand rows.
 */
const REQUEST_COUNTS = `
  CREATE TABLE ${SCHEMA_NAME}.request_totals (
    organization_id TEXT PRIMARY KEY,
    taken BIGINT NOT NULL DEFAULT 0,
    dropped BIGINT NOT NULL DEFAULT 0,
    last_us BIGINT NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);
  CREATE TABLE ${SCHEMA_NAME}.request_times (
    organization_id TEXT NOT NULL,
    taken_before BIGINT NOT NULL,
    at_us BIGINT NOT NULL,
    PRIMARY KEY (organization_id, taken_before)
  );
  CREATE INDEX request_times_at ON ${SCHEMA_NAME}.request_times (at_us);
  CREATE FUNCTION ${SCHEMA_NAME}.clock_us() RETURNS BIGINT LANGUAGE sql VOLATILE AS
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint';
  CREATE FUNCTION ${SCHEMA_NAME}.take_requests(
    taker TEXT, wanted INTEGER, requests_max INTEGER, window_us BIGINT, OUT used BIGINT, OUT allowed BIGINT, OUT reset_us BIGINT
  ) LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
  DECLARE
    known ${SCHEMA_NAME}.request_totals;
    oldest ${SCHEMA_NAME}.request_times;
    now_us BIGINT;
  BEGIN
    -- A server that crashes forgets the last half second, and nobody waits for its disk under the lock.
    PERFORM set_config('synchronous_commit', 'off', true);
    SELECT * INTO known FROM ${SCHEMA_NAME}.request_totals WHERE organization_id = taker FOR UPDATE;
    IF NOT FOUND THEN
      INSERT INTO ${SCHEMA_NAME}.request_totals (organization_id) VALUES (taker) ON CONFLICT DO NOTHING;
      SELECT * INTO known FROM ${SCHEMA_NAME}.request_totals WHERE organization_id = taker FOR UPDATE;
    END IF;
    -- Under the lock: times rise as totals do.
    now_us := ${SCHEMA_NAME}.clock_us();
    IF known.last_us > now_us THEN
      -- The clock was set back: what lies ahead counts as now, so that nobody is shut out for longer than a window.
      UPDATE ${SCHEMA_NAME}.request_times SET at_us = now_us WHERE organization_id = taker AND at_us > now_us;
      UPDATE ${SCHEMA_NAME}.request_totals SET last_us = now_us WHERE organization_id = taker;
    END IF;
    SELECT * INTO oldest FROM ${SCHEMA_NAME}.request_times
      WHERE organization_id = taker AND taken_before >= known.dropped AND at_us > now_us - window_us
      ORDER BY taken_before LIMIT 1;
    used := known.taken - coalesce(oldest.taken_before, known.taken);
    allowed := least(wanted, greatest(requests_max - used, 0));
    reset_us := coalesce(oldest.at_us, now_us) + window_us - now_us;
    IF allowed > 0 THEN
      INSERT INTO ${SCHEMA_NAME}.request_times VALUES (taker, known.taken, now_us);
      UPDATE ${SCHEMA_NAME}.request_totals
        SET taken = known.taken + allowed, dropped = known.taken - used, last_us = now_us WHERE organization_id = taker;
    END IF;
  END $$`;

/** `traceparent` is the trace of the API call that queued the job. */
const EXPORT_JOB_TRACES = `ALTER TABLE ${SCHEMA_NAME}.export_jobs ADD COLUMN traceparent TEXT`;

/** `error_next` contains the advice for an error. In older rows, which have no `error_code`, `error` also contains the advice. */
const EXPORT_JOB_FAULTS = `ALTER TABLE ${SCHEMA_NAME}.export_jobs ADD COLUMN error_code TEXT, ADD COLUMN error_next TEXT`;

/** Replaces the attempts of pg-boss with leases. Running jobs resume when their lease expires. */
const EXPORT_JOB_LEASES = `
  ALTER TABLE ${SCHEMA_NAME}.export_jobs DROP COLUMN run_id, DROP COLUMN run_retry, ADD COLUMN holder TEXT, ADD COLUMN leased_at_ms BIGINT,
    ALTER COLUMN is_canceled DROP DEFAULT, ALTER COLUMN is_canceled TYPE INTEGER USING is_canceled::int,
    ALTER COLUMN is_canceled SET DEFAULT 0;
  UPDATE ${SCHEMA_NAME}.export_jobs SET leased_at_ms = ${SCHEMA_NAME}.clock_us() / 1000 WHERE status = 'running';
  DROP SEQUENCE ${SCHEMA_NAME}.export_completions;
  DROP TABLE IF EXISTS ${['job', 'job_common', 'job_dependency', 'queue_stats', 'bam', 'schedule', 'subscription', 'version', 'warning', 'queue'].map((table) => `${SCHEMA_NAME}.${table}`).join(', ')} CASCADE;
  DROP ROUTINE IF EXISTS ${['create_queue', 'delete_queue', 'job_table_run_async', 'job_table_run', 'job_table_format', 'job_now'].map((routine) => `${SCHEMA_NAME}.${routine}`).join(', ')} CASCADE;
  DROP TYPE IF EXISTS ${SCHEMA_NAME}.job_state CASCADE`;

/**
 * Steps that create the schema, oldest first. Their number is the schema's version. Add steps, but never change a released step.
 */
export const MIGRATIONS: readonly string[] = [
  EXPORT_JOBS,
  API_KEYS,
  REQUEST_COUNTS,
  EXPORT_JOB_TRACES,
  EXPORT_JOB_FAULTS,
  EXPORT_JOB_LEASES,
];
