import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  brotliCompressSync,
  brotliDecompressSync,
  crc32,
  gunzipSync,
  gzipSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Files, releases, serve, sha256 } from './helpers.ts';

const TEXT = 'data,more data,and some more\n'.repeat(300);
/** Compressed at levels that docshelf does not use. */
const ENCODED = { gz: gzipSync(TEXT, { level: 1 }), br: brotliCompressSync(TEXT), zst: zstdCompressSync(TEXT) };
const GZ_DATA = ENCODED.gz.subarray(10);
const DECODE = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync };
const CODINGS = [
  ['gzip', 'gz'],
  ['br', 'br'],
  ['zstd', 'zst'],
] as const;

/** Without fetch, which would decode it. */
async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

async function sent(files: Files, coding: string): Promise<Buffer> {
  const response = await serve([releases.make({ 'data.csv': TEXT, ...files })]).send('/data.csv', {
    'accept-encoding': coding,
  });
  expect(response.headers.get('content-encoding')).toBe(coding);
  return bytesOf(response);
}

describe('compressed files in a bundle', () => {
  it.each(CODINGS)('are sent unchanged if they decode to the same bytes: %s', async (coding, ending) => {
    expect((await sent({ [`data.csv.${ending}`]: ENCODED[ending] }, coding)).equals(ENCODED[ending])).toBe(true);
  });

  it.each(CODINGS)(
    'have an entity tag of their own bytes, and conditional requests use this tag: %s',
    async (coding, ending) => {
      const site = releases.make({ 'data.csv': TEXT, [`data.csv.${ending}`]: ENCODED[ending] });
      const { send, server } = serve([site]);
      const accept = { 'accept-encoding': coding };
      const { headers } = await send('/data.csv', accept);
      const etag = headers.get('etag') ?? '';
      expect(etag).toBe(
        `"${sha256(TEXT).slice(0, 32)}-${{ gzip: 'gz', br: 'br', zstd: 'zst' }[coding]}-${sha256(ENCODED[ending]).slice(0, 8)}"`,
      );
      expect([headers.get('vary'), headers.get('content-length')]).toEqual([
        'Accept-Encoding',
        String(ENCODED[ending].length),
      ]);
      expect(server.fastAnswer('/data.csv', { ...accept, 'if-none-match': etag })?.status).toBe(304);
      expect((await send('/data.csv', { ...accept, 'if-match': etag })).status).toBe(200);
      expect((await send('/data.csv', { ...accept, 'if-match': '"other"' })).status).toBe(412);
      const ranged = await send('/data.csv', { ...accept, range: 'bytes=0-9' });
      expect([ranged.status, ranged.headers.get('content-encoding'), await ranged.text()]).toEqual([
        206,
        null,
        TEXT.slice(0, 10),
      ]);
    },
  );

  it.each(CODINGS)(
    'are sent from disk or memory if they are larger than one cached body: %s',
    async (coding, ending) => {
      const lines = Array.from({ length: 15_000 }, (_, at) => sha256(String(at))).join('\n');
      const encoded = { gz: gzipSync, br: brotliCompressSync, zst: zstdCompressSync }[ending](lines);
      const site = releases.make({ 'data.csv': lines, [`data.csv.${ending}`]: encoded });
      for (const cacheBytes of [1024, 8 * 700 * 1024]) {
        const { send } = serve([site], { cacheBytes });
        const accept = { 'accept-encoding': coding };
        for (const _ of ['first', 'second']) {
          const response = await send('/data.csv', accept);
          expect((await bytesOf(response)).equals(encoded)).toBe(true);
          const etag = response.headers.get('etag') ?? '';
          expect((await send('/data.csv', { ...accept, 'if-none-match': etag })).status).toBe(304);
          const head = await send('/data.csv', accept, 'HEAD');
          expect([head.headers.get('content-length'), await head.text()]).toEqual([String(encoded.length), '']);
        }
      }
    },
  );

  it.each(CODINGS)('are not sent if they are damaged after the import: %s', async (coding, ending) => {
    const site = releases.make({ 'data.csv': TEXT, [`data.csv.${ending}`]: ENCODED[ending] });
    writeFileSync(join(site.siteDir, `data.csv.${ending}`), Buffer.from(ENCODED[ending]).fill(0, 20));
    const body = await bytesOf(await serve([site]).send('/data.csv', { 'accept-encoding': coding }));
    expect(DECODE[coding](body).toString()).toBe(TEXT);
  });

  it('are not sent for pages to which docshelf adds elements', async () => {
    const page = `<!doctype html><title>Page</title>${'<p>all work and no play</p>'.repeat(200)}`;
    const site = releases.make({ 'index.html': page, 'index.html.gz': gzipSync(page) });
    const { send } = serve([site], { additions: { head: ['<link rel="x">'], body: [] } });
    for (const _ of ['first', 'second']) {
      const body = await bytesOf(await send('/', { 'accept-encoding': 'gzip' }));
      expect(gunzipSync(body).toString()).toContain('<link rel="x">');
    }
  });

  it('may have every optional field of a gzip header', async () => {
    const fields = [Buffer.from([3, 0]), Buffer.from('abc'), Buffer.from('data.csv\0a comment\0'), Buffer.from([1, 2])];
    const header = Buffer.from([0x1f, 0x8b, 8, 0x1e, 1, 2, 3, 4, 0, 3]);
    // The last field of the header is its checksum (RFC 1952, section 2.3.1).
    const before = Buffer.concat([header, ...fields.slice(0, -1)]);
    fields.splice(-1, 1, Buffer.from([crc32(before) & 0xff, (crc32(before) >> 8) & 0xff]));
    const named = Buffer.concat([header, ...fields, GZ_DATA]);
    expect(gunzipSync(named).toString()).toBe(TEXT);
    expect((await sent({ 'data.csv.gz': named }, 'gzip')).equals(named)).toBe(true);
  });

  const [START, REST] = [TEXT.slice(0, 100), TEXT.slice(100)].map((part) => gzipSync(part));
  const changed = (at: number): Buffer => {
    const bytes = Buffer.from(ENCODED.gz);
    bytes[bytes.length + at] = (bytes.at(at) ?? 0) ^ 1;
    return bytes;
  };
  it.each([
    // Browsers read only the first member.
    ['two members', Buffer.concat([START ?? '', REST ?? ''].map(Buffer.from))],
    ['an empty member before the data', Buffer.concat([gzipSync(''), ENCODED.gz])],
    ['an empty member after the data', Buffer.concat([ENCODED.gz, gzipSync('')])],
    ['zeros after the data', Buffer.concat([ENCODED.gz, Buffer.alloc(512)])],
    ['a wrong checksum', changed(-8)],
    ['a wrong length', changed(-4)],
    [
      'a name that does not end',
      Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]), Buffer.alloc(2000, 'x')]),
    ],
    ['a flag of a later format', Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0x20, 0, 0, 0, 0, 0, 3]), GZ_DATA])],
  ])('are ignored if they are gzip with %s', async (_, file) => {
    const body = await sent({ 'data.csv.gz': file }, 'gzip');
    expect(gunzipSync(body).toString()).toBe(TEXT);
    expect(body.equals(file)).toBe(false);
  });

  const LIES: Readonly<Record<string, (of: (text: string | Buffer) => Buffer, sound: Buffer) => Buffer>> = {
    'with different content': (of) => of(TEXT.replace('some', 'soma')),
    'with longer content': (of) => of(`${TEXT}!`),
    'with shorter content': (of) => of(TEXT.slice(1)),
    'with a decompression bomb': (of) => of(Buffer.alloc(4 * 1024 ** 2)),
    'that is truncated': (_, sound) => sound.subarray(0, -3),
    'with trailing data': (_, sound) => Buffer.concat([sound, Buffer.from('more')]),
    'without bytes': () => Buffer.alloc(0),
  };
  const ENCODE = { gz: gzipSync, br: brotliCompressSync, zst: zstdCompressSync };
  const cases = (['gz', 'br', 'zst'] as const).flatMap((ending) =>
    Object.keys(LIES).map((name) => [ending, name] as const),
  );

  it.each(cases)('are not sent if they do not decode to the original file: .%s %s', async (ending, name) => {
    const lie = LIES[name]?.((text) => ENCODE[ending](text), ENCODED[ending]) ?? Buffer.alloc(0);
    const coding = ({ gz: 'gzip', br: 'br', zst: 'zstd' } as const)[ending];
    const site = releases.make({ 'data.csv': TEXT, [`data.csv.${ending}`]: lie });
    const response = await serve([site]).send('/data.csv', { 'accept-encoding': coding });
    expect((await bytesOf(response)).equals(lie)).toBe(false);
    const { send } = serve([site]);
    expect((await bytesOf(await send(`/data.csv.${ending}`))).equals(lie)).toBe(true);
  });
});
