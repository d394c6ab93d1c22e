import { describe, expect, it } from 'vitest';
import { parseDatabaseUrl } from '../../src/domain/database-address.ts';

describe('parseDatabaseUrl()', () => {
  const PLAIN = { host: 'db.acme.dev', port: 5432, database: 'docs', user: 'docshelf', password: null, tls: 'off' };

  it.each([
    ['postgres://docshelf@db.acme.dev/docs', PLAIN],
    ['postgresql://docshelf:p%40ss%2Fw@db.acme.dev:6432/docs', { ...PLAIN, password: 'p@ss/w', port: 6432 }],
    ['postgres://docshelf@db.acme.dev/docs?sslmode=require', { ...PLAIN, tls: 'encrypted' }],
    ['postgres://docshelf@db.acme.dev/docs?sslmode=verify-ca', { ...PLAIN, tls: 'chain' }],
    ['postgres://docshelf@db.acme.dev/docs?sslmode=verify-full', { ...PLAIN, tls: 'verified' }],
    ['postgres://docshelf@[::1]:6432/docs', { ...PLAIN, host: '::1', port: 6432 }],
    ['postgres://docshelf@%2Frun%2Fpostgresql/docs', { ...PLAIN, host: '/run/postgresql' }],
  ])('parses the valid URL %s', (url, address) => {
    expect(parseDatabaseUrl(url)).toEqual(address);
  });

  it.each([
    'mysql://docshelf@db/docs',
    'postgres://db/docs',
    'postgres://docshelf@db/',
    'postgres://docshelf@db/a/b',
    'postgres://docshelf@db/docs?sslmode=prefer',
    'postgres://docshelf@db/docs?sslrootcert=/etc/ca.pem',
    'postgres://docshelf@db/docs?host=elsewhere',
    'postgres:///docs',
    'postgres://docshelf@db/docs?sslmode=require&sslmode=disable',
    'postgres://docshelf@db/%E0%A4%A',
    'db:5432/docs',
    '',
  ])('rejects the invalid URL %j', (url) => {
    expect(parseDatabaseUrl(url)).toBeNull();
  });
});
