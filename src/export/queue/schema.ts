/** Rises with every change to the tables: a store of a newer version is refused, one of an older version is brought up. */
export const FORMAT_VERSION = 1;

/**
 * - `jobs`: one row a job. `seq` is the order of arrival and never comes again, so that it can stand in a cursor. `place` is
 *   0, below it for a job that was given back and goes before the others of its organization. `completion` is the order in
 *   which jobs were completed. `heartbeat` rises with every sign of life of the attempt's `holder` (JSON, `Holder`).
 *   What can be long stands last: a row's first columns are read without it.
 * - `turns`: the number of each organization's last claim, by which they take turns.
 *
 * That a domain has one running job is kept by an index, and not by the code alone. Indexes over the states that end are
 * apart from those over the states that work: 100,000 finished jobs make no difference to a claim.
 */
export const SCHEMA = `
  CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    jobId TEXT NOT NULL UNIQUE,
    organizationId TEXT NOT NULL,
    domain TEXT NOT NULL,
    version TEXT,
    status TEXT NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'failed')),
    progress REAL NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
    pageCount INTEGER NOT NULL DEFAULT 0,
    createdAtMs INTEGER NOT NULL,
    updatedAtMs INTEGER NOT NULL CHECK (updatedAtMs >= createdAtMs),
    place INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 0,
    heartbeat INTEGER NOT NULL DEFAULT 0,
    holder TEXT,
    isCanceled INTEGER NOT NULL DEFAULT 0,
    completion INTEGER,
    bundleSha256 TEXT,
    bundleSizeBytes INTEGER,
    contentSha256 TEXT,
    error TEXT,
    paths TEXT,
    checkpoint TEXT,
    report TEXT
  ) STRICT;
  CREATE TABLE turns (organizationId TEXT PRIMARY KEY, lastClaim INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  CREATE INDEX listed ON jobs (organizationId);
  CREATE INDEX listed_by_domain ON jobs (organizationId, domain);
  CREATE INDEX listed_by_status ON jobs (organizationId, status);
  CREATE INDEX listed_by_domain_and_status ON jobs (organizationId, domain, status);
  CREATE INDEX queued ON jobs (domain, place) WHERE status = 'queued';
  CREATE UNIQUE INDEX running ON jobs (domain) WHERE status = 'running';
  CREATE UNIQUE INDEX completed ON jobs (completion) WHERE status = 'completed';
  CREATE INDEX completed_by_domain ON jobs (domain, completion) WHERE status = 'completed';
  CREATE INDEX completed_by_version ON jobs (organizationId, domain, version, completion) WHERE status = 'completed';
  CREATE INDEX ended ON jobs (updatedAtMs) WHERE status IN ('completed', 'failed');
`;
