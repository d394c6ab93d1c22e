import { DocshelfError } from '../domain/errors.ts';

/**
 * Classes of SQLSTATE (appendix A of PostgreSQL's manual) that a statement of ours can only cause by a fault of ours: data, constraints,
 * cursors, syntax. The rest says that the server cannot serve us now.
 */
const OURS = /^(?:0[ABDFLPZ]|2[0-7BDF]|3[48]|42|44|P0)/;
/** Of those: no right to a table, which a grant mends; what is read-only is a standby. */
const NOT_OURS: ReadonlySet<string> = new Set(['42501', '25006']);

export function sqlStateOf(error: unknown): string | null {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code) ? code : null;
}

/** What the driver throws, as `database_unavailable`; faults of ours as they are. */
export function asDatabaseFault(error: unknown): unknown {
  if (error instanceof DocshelfError) return error;
  const state = sqlStateOf(error);
  if (state !== null && OURS.test(state) && !NOT_OURS.has(state)) return error;
  return new DocshelfError('database_unavailable', `Cannot use the database: ${stateOf(error, state)}`, {
    next: 'Check that PostgreSQL runs and that the URL in database.urlFile leads to it; docshelf goes on by itself.',
    cause: error,
    fields: { retryable: true },
  });
}

function stateOf(error: unknown, sqlState: string | null): string {
  // Of a name with several addresses.
  const { errors, message } = (error ?? {}) as { readonly errors?: readonly Error[]; readonly message?: string };
  const told = message || errors?.map((each) => each.message).join(', ') || 'it does not answer';
  return sqlState === null ? told : `${told} (${sqlState})`;
}
