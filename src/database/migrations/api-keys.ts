import { SCHEMA_NAME } from '../schema-name.ts';

/**
 * - `api_keys`: of a key its digest alone; times are RFC 3339.
 * - `api_key_revision`: one row, another value with each change. Random, so that a database out of a backup has none that was seen.
 * - `api_key_uses`: of keys of the config, too.
 */
export const API_KEYS = `
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
