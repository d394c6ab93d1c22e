import { once } from 'node:events';
import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. Lines with the same name are joined with a comma. */
  readonly fields: ReadonlyMap<string, string>;
  /** Body after decoding. */
  readonly body: Buffer;
  /** Number of content bytes as sent. */
  readonly sent: number;
}

const CLOSED_MS_MAX = 30_000;

export interface Exchange {
  readonly received: Buffer;
  /** Reason for the end of the connection, to explain missing responses. */
  readonly ended: string;
}

/** Writes bytes and reads until the server closes the connection. @throws Error if it does not */
export async function exchange(port: number, bytes: Buffer): Promise<Exchange> {
  const beganMs = performance.now();
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  let isLeftOpen = false;
  let how = 'closed';
  socket.once('end', () => {
    how = 'ended by the server';
  });
  // A server that rejects the rest of the input resets the connection after its response.
  socket.on('error', ({ message }) => {
    how += `, ${message}`;
  });
  socket.setTimeout(CLOSED_MS_MAX, () => {
    isLeftOpen = true;
    socket.destroy();
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  socket.write(bytes);
  await closed;
  if (isLeftOpen) throw new Error(`still open after ${CLOSED_MS_MAX} ms: ${Buffer.concat(chunks).subarray(0, 200)}`);
  const received = Buffer.concat(chunks);
  return { received, ended: `${how} after ${received.length} bytes and ${Math.round(performance.now() - beganMs)} ms` };
}

/** @param methods of the requests in their order, because a response to HEAD has no content. @throws Error for invalid framing */
export function parseAnswers(received: Buffer, methods: readonly string[]): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let final = 0;
  for (let rest = received; rest.length > 0; ) {
    const end = rest.indexOf('\r\n\r\n');
    const [line = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
    if (end === -1 || Number.isNaN(status)) throw new Error(`no head of an answer: ${rest.subarray(0, 200)}`);
    const fields = fieldsOf(lines);
    rest = rest.subarray(end + 4);
    const hasContent = status >= 200 && status !== 204 && status !== 304 && methods[final] !== 'HEAD';
    const { content, length } = hasContent ? contentOf(rest, fields) : { content: Buffer.alloc(0), length: 0 };
    rest = rest.subarray(length);
    if (status >= 200) final++;
    answers.push({ status, fields, body: decoded(content, fields), sent: content.length });
  }
  return answers;
}

function fieldsOf(lines: readonly string[]): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:\s]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === '') throw new Error(`no field: ${line}`);
    const former = fields.get(name.toLowerCase());
    fields.set(name.toLowerCase(), former === undefined ? value : `${former}, ${value}`);
  }
  return fields;
}

function contentOf(rest: Buffer, fields: ReadonlyMap<string, string>): { content: Buffer; length: number } {
  if (fields.get('transfer-encoding') === 'chunked') return chunksOf(rest);
  const contentLength = fields.get('content-length');
  if (contentLength === undefined) return { content: rest, length: rest.length };
  const length = Number(contentLength);
  if (!/^\d+$/.test(contentLength) || rest.length < length) throw new Error(`${rest.length} bytes of ${contentLength}`);
  return { content: rest.subarray(0, length), length };
}

function chunksOf(rest: Buffer): { content: Buffer; length: number } {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at);
    const size = Number.parseInt(rest.subarray(at, lineEnd).toString('latin1'), 16);
    if (lineEnd === -1 || Number.isNaN(size)) throw new Error('chunks that do not end');
    at = lineEnd + 2;
    chunks.push(rest.subarray(at, at + size));
    at += size + 2;
    if (size === 0) return { content: Buffer.concat(chunks), length: at };
  }
}

export function decoded(content: Buffer, fields: ReadonlyMap<string, string>): Buffer {
  if (content.length === 0) return content;
  const coding = fields.get('content-encoding');
  if (coding === 'gzip') return gunzipSync(content);
  return coding === 'br' ? brotliDecompressSync(content) : content;
}
