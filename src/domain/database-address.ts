import { percentDecode } from './text.ts';

/** `verified` checks certificate and name, `chain` only the certificate, `encrypted` neither (libpq, section 34.19.1). */
type DatabaseTls = 'off' | 'encrypted' | 'chain' | 'verified';

export interface DatabaseAddress {
  /** Host name, IP address without brackets, or folder of a Unix socket, which begins with `/`. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string | null;
  readonly tls: DatabaseTls;
}

const PORT = 5432;

/** TLS mode for each sslmode of libpq. Omits `prefer` and `allow`, which fall back to plain text. */
const TLS_OF: Readonly<Record<string, DatabaseTls>> = {
  disable: 'off',
  require: 'encrypted',
  'verify-ca': 'chain',
  'verify-full': 'verified',
};

/** Reads `postgres://user:password@host:port/name?sslmode=…`, or the host `%2Ffolder` for a Unix socket. Null for invalid text. */
export function parseDatabaseUrl(text: string): DatabaseAddress | null {
  const url = URL.parse(text);
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol)) return null;
  const parameters = [...url.searchParams];
  if (parameters.some(([name]) => name !== 'sslmode') || parameters.length > 1) return null;
  const tls = TLS_OF[parameters[0]?.[1] ?? 'disable'];
  const bare = url.hostname.replace(/^\[|\]$/g, '');
  const [host, database, user, password] = [bare, url.pathname.slice(1), url.username, url.password].map(percentDecode);
  if (tls === undefined || !host || !database || !user || password == null || database.includes('/')) return null;
  return { host, port: Number(url.port || PORT), database, user, password: password || null, tls };
}
