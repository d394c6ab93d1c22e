import { once } from 'node:events';
import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { makeCertificate } from '../../helpers/certificates.ts';
import { onFileEnd } from '../../helpers/file-end.ts';
import { openHttp2 } from '../tls/tls-client.ts';
import { wordsOf } from './ask-row.ts';
import { expectedOf, faultsOf, isWhole, type Row, requestOf, type Words } from './row.ts';
import { decoded, type RawAnswer } from './row-client.ts';
import { openRowServer } from './row-server.ts';
import { SITE_FILES } from './row-site.ts';
import { TABLES } from './tables.ts';

/** Requests whose HTTP/2 response differs, because Node's HTTP/1.1 parser does not reject them first. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'BREW /ten.txt': '405 | allow: GET, HEAD',
  'get /ten.txt': '405 | allow: GET, HEAD',
  'Get /ten.txt': '405 | allow: GET, HEAD',
  'GETS /ten.txt': '405 | allow: GET, HEAD',
};
/**
 * Rows that the client cannot send: it joins lines that must be single, and sends neither bytes over ASCII nor fields over the
 * server's limit.
 */
const UNSENDABLE = / (If-[A-Za-z-]+|Range):.* \1:|[\u0080-\uffff]|A: a{40000}/;

const rowsOf = (rows: readonly Row[]): Row[] =>
  rows
    .filter((row) => !isWhole(row) && !UNSENDABLE.test(row[0]))
    // Only HTTP/1.1 has chunks (RFC 9113, section 8.1).
    .map((row) => [
      row[0],
      OTHERWISE[row[0]] ??
        expectedOf(row).map((each) => each.replace(' | transfer-encoding: chunked', ' | -transfer-encoding')),
    ]);

describe.each(TABLES.filter(([, rows]) => rowsOf(rows).length > 0))(
  'HTTP/2 responses of the site listener, rules for %s',
  (_, rows) => {
    let session: ClientHttp2Session;
    let words: Words;
    beforeAll(async () => {
      const { cert, key } = makeCertificate({ names: ['x', '127.0.0.1'] });
      const tls = { pairs: [{ chain: cert, key: new Secret(key) }], http2: true, hstsMs: null };
      const { port } = await openRowServer(SITE_FILES, tls);
      words = await wordsOf((await openRowServer(SITE_FILES)).port);
      session = openHttp2(port);
      onFileEnd(() => session.destroy());
    });

    it.each(rowsOf(rows).map((row) => [row[0].slice(0, 200), row] as const))(
      'match the expected status and headers in the table for the request %s',
      async (_name, row) => {
        for (let times = 0; times < 2; times++) {
          const answer = await send(session, row, words);
          expect(faultsOf(row, [answer], words)).toEqual([]);
          // HTTP/2 forbids header fields of the connection (RFC 9113, section 8.2.2).
          expect([...answer.fields.keys()].filter((name) => CONNECTION_FIELDS.has(name))).toEqual([]);
        }
      },
    );
  },
);

const CONNECTION_FIELDS = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

async function send(session: ClientHttp2Session, row: Row, words: Words): Promise<RawAnswer> {
  const { method, target, fields } = requestOf(row, words);
  const headers: OutgoingHttpHeaders = { ':method': method, ':path': target, ':authority': 'x' };
  for (const [name, value] of fields) {
    const former = headers[name.toLowerCase()];
    headers[name.toLowerCase()] = former === undefined ? value : [String(former), value];
  }
  const stream = session.request(headers, { endStream: true });
  const [answer] = await once(stream, 'response');
  const sent = await buffer(stream);
  const received = new Map(
    Object.entries(answer as Record<string, unknown>).map(([name, value]) => [name, String(value)]),
  );
  return {
    status: Number(received.get(':status')),
    fields: received,
    body: decoded(sent, received),
    sent: sent.length,
  };
}
