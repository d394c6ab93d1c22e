import { SCHEMA_NAME } from '../schema-name.ts';

/**
 * - `request_totals`: `taken` is how many requests of an organization were ever allowed, `dropped` how many of those count no more, as far
 *   as somebody has looked. Its row is the lock of the organization.
 * - `request_times`: one row for all that were allowed at once, `taken_before` is the total before them; so those that count are the total
 *   less that of the oldest row that counts, whatever their number.
 *
 * `take_requests` is one statement, so that no network is between the lock and its end. Its plans are made while there are few rows and
 * kept while there are ten thousand: they may only follow the primary key.
 */
export const REQUEST_COUNTS = `
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
