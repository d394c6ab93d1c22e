import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  crc32,
  gunzipSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { ReleaseView } from '../../src/domain/release.ts';
import { writeFileTable } from '../../src/files/index.ts';
import { BodyCache } from '../../src/serve/index.ts';
import { makeVariants, type VariantsOrder } from '../../src/serve/variants/make-variants.ts';
import { mostLinked } from '../../src/serve/variants/most-linked.ts';
import { HEADER_BYTES, VARIANTS_FORMAT, variantHeader } from '../../src/serve/variants/variant-file.ts';
import { type Files, serve, sha256, TestReleases } from './helpers.ts';

const releases = new TestReleases();
afterEach(() => releases.remove());

const PAGE = `<!doctype html><title>Page</title>${'<p>all work and no play</p>'.repeat(200)}`;
const SCRIPT = `${'export const play = "no";\n'.repeat(100)}`;
const HASHED = 'assets/app.5b0e4cfb.js';
const TEXT = 'data,more data,and some more\n'.repeat(300);

const folderOf = ({ siteDir }: ReleaseView) => dirname(siteDir);
const variantsOf = (release: ReleaseView) => join(folderOf(release), 'variants');
const namesOf = (release: ReleaseView) => readdirSync(variantsOf(release)).sort();
const fileOf = (release: ReleaseView, content: string | Buffer, ending: string) =>
  join(variantsOf(release), `${sha256(content)}.${ending}`);

async function release(files: Files): Promise<ReleaseView> {
  const made = releases.make(files);
  await writeFileTable(
    folderOf(made),
    [...made.files.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
  );
  return made;
}

function make(of: ReleaseView, formers: readonly ReleaseView[] = [], more: Partial<VariantsOrder> = {}) {
  const order = {
    releaseDir: folderOf(of),
    formerDirs: formers.map(folderOf),
    builtFor: '/',
    isMounted: false,
    hasAdditions: false,
    reserveBytes: 0,
    leftOut: [],
    ...more,
  };
  return makeVariants(order, () => undefined);
}

/** Without what fetch would decode. */
async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

const BR = { 'accept-encoding': 'br' };
const GZIP = { 'accept-encoding': 'gzip' };

describe('variants', () => {
  it('are gzip of all that compresses, and Brotli of pages and of names with a digest', async () => {
    const site = await release({
      'index.html': PAGE,
      [HASHED]: SCRIPT,
      'data.csv': TEXT,
      'small.css': 'a{}',
      'a.png': Buffer.alloc(5000),
    });
    expect(await make(site)).toMatchObject({ made: 5, linked: 0, isAll: true });
    expect(namesOf(site)).toEqual(
      [
        `${sha256(PAGE)}.br`,
        `${sha256(PAGE)}.gz`,
        `${sha256(SCRIPT)}.br`,
        `${sha256(SCRIPT)}.gz`,
        `${sha256(TEXT)}.gz`,
        'made',
      ].sort(),
    );
  });

  it('are what is sent, under a tag of their bytes', async () => {
    const site = await release({ [HASHED]: SCRIPT });
    const before = await serve([site]).ask(`/${HASHED}`, BR);
    await make(site);
    const { ask, server } = serve([site]);
    const response = await ask(`/${HASHED}`, BR);
    const { headers } = response;
    const body = await bytesOf(response);
    expect(brotliDecompressSync(body).toString()).toBe(SCRIPT);
    expect(headers.get('content-encoding')).toBe('br');
    expect(headers.get('vary')).toBe('Accept-Encoding');
    expect(headers.get('content-length')).toBe(String(body.length));
    expect(headers.get('etag')).toMatch(/^"[0-9a-f]{32}-br-[0-9a-f]{8}"$/);
    expect(before.headers.get('etag')).toMatch(/^"[0-9a-f]{32}-br"$/);

    const etag = headers.get('etag') ?? '';
    const plain = server.plain(`/${HASHED}`, { 'accept-encoding': 'br', 'if-none-match': etag });
    expect(plain?.status).toBe(304);
    expect(plain?.headers).toContain(etag);
    expect(server.plain(`/${HASHED}`, BR)?.headers).toContain(etag);
    expect((await ask(`/${HASHED}`, { ...BR, 'if-match': etag })).status).toBe(200);
    expect((await ask(`/${HASHED}`, { ...BR, 'if-match': '"other"' })).status).toBe(412);
    // What was compressed as it was asked for is of the same content.
    const known = before.headers.get('etag') ?? '';
    const unchanged = await ask(`/${HASHED}`, { ...BR, 'if-none-match': known });
    expect([unchanged.status, unchanged.headers.get('etag')]).toEqual([304, known]);
  });

  it('never give a range: that is of the file itself', async () => {
    const site = await release({ 'index.html': PAGE });
    await make(site);
    const { ask } = serve([site]);
    const etag = (await ask('/', BR)).headers.get('etag') ?? '';
    const ranged = await ask('/', { ...BR, range: 'bytes=0-9' });
    expect([ranged.status, ranged.headers.get('content-encoding')]).toEqual([206, null]);
    expect(await ranged.text()).toBe(PAGE.slice(0, 10));
    expect((await ask('/', { ...BR, range: 'bytes=0-9', 'if-range': etag })).status).toBe(200);
  });

  it('are sent of files over the bound of one body, by size from memory or from disk', async () => {
    const lines = Array.from({ length: 15_000 }, (_, at) => sha256(String(at))).join('\n');
    const site = await release({ 'data.csv': lines });
    await make(site);
    for (const cacheBytes of [1024, 8 * 700 * 1024]) {
      const { ask } = serve([site], { cacheBytes });
      const response = await ask('/data.csv', GZIP);
      const body = await bytesOf(response);
      expect(gunzipSync(body).toString() === lines).toBe(true);
      expect(response.headers.get('content-length')).toBe(String(body.length));
      const etag = response.headers.get('etag') ?? '';
      expect(etag).toMatch(/-gz-[0-9a-f]{8}"$/);
      expect((await ask('/data.csv', { ...GZIP, 'if-none-match': etag })).status).toBe(304);
      const head = await ask('/data.csv', GZIP, 'HEAD');
      expect([head.headers.get('content-length'), await head.text()]).toEqual([String(body.length), '']);
    }
  });

  it('take the place of what was compressed as it was asked for', async () => {
    const site = await release({ 'index.html': PAGE });
    const bodies = new BodyCache(1024 ** 2);
    const { ask } = serve([site], { bodies });
    expect((await ask('/', BR)).headers.get('etag')).toMatch(/-br"$/);
    await make(site);
    bodies.forgetMade();
    expect((await ask('/', BR)).headers.get('etag')).toMatch(/-br-/);
  });

  it('stay as they are: another look makes nothing', async () => {
    const site = await release({ 'index.html': PAGE, 'data.csv': TEXT });
    await make(site);
    const times = () => namesOf(site).map((name) => statSync(join(variantsOf(site), name)).mtimeMs);
    const before = times();
    expect(await make(site)).toMatchObject({ made: 0, linked: 0 });
    expect(times()).toEqual(before);
  });

  it('go on where a killed process was, and leave nothing of what it had begun', async () => {
    const site = await release({ 'index.html': PAGE, 'data.csv': TEXT });
    await make(site);
    rmSync(join(variantsOf(site), 'made'));
    rmSync(fileOf(site, TEXT, 'gz'));
    const temporary = join(variantsOf(site), '.tmp-0123');
    writeFileSync(temporary, 'half');
    expect(await make(site)).toMatchObject({ made: 1 });
    expect(existsSync(fileOf(site, TEXT, 'gz'))).toBe(true);
    // Another daemon may be writing it.
    expect(namesOf(site)).toContain('.tmp-0123');
    utimesSync(temporary, 0, 0);
    await make(site);
    expect(namesOf(site)).not.toContain('.tmp-0123');
  });

  it('are not all made where another process took one away before it had its name', async () => {
    // One that is not written in one piece.
    const site = await release({ 'data.csv': TEXT.repeat(Math.ceil(300_000 / TEXT.length)) });
    let isOver = false;
    const sweep = () => {
      if (isOver) return;
      const names = existsSync(variantsOf(site)) ? namesOf(site) : [];
      for (const name of names) if (name.startsWith('.tmp-')) rmSync(join(variantsOf(site), name), { force: true });
      setImmediate(sweep);
    };
    sweep();
    expect(await make(site)).toMatchObject({ made: 0, isAll: true });
    isOver = true;
    expect(namesOf(site)).toEqual([]);
    expect(await make(site)).toMatchObject({ made: 1 });
  });

  it('of 1 MiB and more that are damaged are made anew at the next look, and not linked', async () => {
    const lines = Array.from({ length: 40_000 }, (_, at) => sha256(String(at))).join('\n');
    const first = await release({ 'data.csv': lines });
    // Brotli would take the test a while.
    await make(first, [], { leftOut: [sha256(lines)] });
    const file = fileOf(first, lines, 'gz');
    const body = gzipSync(lines);
    writeFileSync(file, Buffer.concat([variantHeader(body.length, crc32(body)), body]));
    const brotli = brotliCompressSync(lines, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
    writeFileSync(fileOf(first, lines, 'br'), Buffer.concat([variantHeader(brotli.length, crc32(brotli)), brotli]));
    expect(body.length).toBeGreaterThan(1024 ** 2);
    expect(await make(first)).toMatchObject({ made: 0 });
    writeFileSync(file, readFileSync(file).fill(0, 500_000, 500_100));
    const second = await release({ 'moved.csv': lines });
    expect(await make(second, [first])).toMatchObject({ made: 1, linked: 1 });
    writeFileSync(join(variantsOf(first), 'made'), VARIANTS_FORMAT);
    expect(await make(first)).toMatchObject({ made: 1 });
    expect(gunzipSync(readFileSync(file).subarray(HEADER_BYTES)).toString() === lines).toBe(true);
  });

  it('of a former format are made anew', async () => {
    const site = await release({ 'data.csv': TEXT });
    await make(site);
    const file = fileOf(site, TEXT, 'gz');
    writeFileSync(file, readFileSync(file).fill('DSV1', 0, 4));
    writeFileSync(join(variantsOf(site), 'made'), '1\n');
    expect(await make(site)).toMatchObject({ made: 1 });
    expect(readFileSync(file).toString('latin1', 0, 4)).toBe(VARIANTS_FORMAT);
  });

  it('of the same bytes in a release before are linked, not made', async () => {
    const first = await release({ 'index.html': PAGE, 'data.csv': TEXT });
    await make(first);
    const second = await release({ 'moved.html': PAGE, 'data.csv': `${TEXT}new` });
    expect(await make(second, [first])).toMatchObject({ made: 1, linked: 2 });
    expect(statSync(fileOf(second, PAGE, 'br')).ino).toBe(statSync(fileOf(first, PAGE, 'br')).ino);
  });

  it.each([
    ['cut', (file: string) => truncateSync(file, statSync(file).size - 1)],
    ['emptied', (file: string) => truncateSync(file, 0)],
    ['of another format', (file: string) => writeFileSync(file, readFileSync(file).fill('X', 0, 4))],
    ['changed', (file: string) => writeFileSync(file, readFileSync(file).fill(0, 40))],
  ])('that are %s are not sent, and made anew', async (_, damage) => {
    const site = await release({ 'index.html': PAGE });
    await make(site);
    const file = fileOf(site, PAGE, 'gz');
    const sound = readFileSync(file);
    damage(file);
    const response = await serve([site]).ask('/', GZIP);
    expect(gunzipSync(await bytesOf(response)).toString()).toBe(PAGE);
    expect(response.headers.get('etag')).toMatch(/-gz"$/);
    await make(site);
    expect(readFileSync(file).equals(sound)).toBe(true);
  });

  it('over the bound of one body that are cut are not sent', async () => {
    const lines = Array.from({ length: 4_000 }, (_, at) => sha256(String(at))).join('\n');
    const site = await release({ 'data.csv': lines });
    await make(site);
    const file = fileOf(site, lines, 'gz');
    truncateSync(file, statSync(file).size - 1);
    const response = await serve([site], { cacheBytes: 1024 }).ask('/data.csv', GZIP);
    expect(gunzipSync(await bytesOf(response)).toString() === lines).toBe(true);
    expect(existsSync(join(variantsOf(site), 'made'))).toBe(false);
  });

  it('are not made of a file whose bytes are not those of its release', async () => {
    const site = await release({ 'index.html': PAGE, 'data.csv': TEXT });
    writeFileSync(join(site.siteDir, 'data.csv'), TEXT.replace('some', 'soma'));
    rmSync(join(site.siteDir, 'index.html'));
    expect(await make(site)).toMatchObject({ made: 0 });
    expect(namesOf(site)).toEqual(['made']);
  });

  it('of a release that is gone are not made', async () => {
    const site = await release({ 'index.html': PAGE });
    rmSync(folderOf(site), { recursive: true });
    await expect(make(site)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(existsSync(folderOf(site))).toBe(false);
  });

  it('end where the volume has less than is left alone, and go on once it has more', async () => {
    const site = await release({ 'index.html': PAGE });
    expect(await make(site, [], { reserveBytes: Number.MAX_SAFE_INTEGER })).toMatchObject({ made: 0, isAll: false });
    expect(namesOf(site)).toEqual([]);
    expect(await make(site)).toMatchObject({ made: 2, isAll: true });
  });

  it('are not made of what is rewritten for another base path', async () => {
    const site = await release({ 'index.html': PAGE, 'data.csv': TEXT });
    await make(site, [], { isMounted: true });
    expect(namesOf(site)).toEqual([`${sha256(TEXT)}.gz`]);
  });
});

describe('variants of a site to whose pages something is added', () => {
  it('are not made of pages, and no page is sent as one that was made before', async () => {
    const site = await release({ 'index.html': PAGE, 'data.csv': TEXT });
    await make(site, [], { hasAdditions: true });
    expect(namesOf(site)).toEqual([`${sha256(TEXT)}.gz`]);
    await make(site);
    expect(namesOf(site)).toContain(`${sha256(PAGE)}.gz`);
    const { ask } = serve([site], { additions: { head: ['<link rel="x">'], body: [] } });
    for (const _ of [1, 2]) {
      const response = await ask('/', { 'accept-encoding': 'gzip' });
      expect(gunzipSync(await bytesOf(response)).toString()).toContain('<link rel="x">');
    }
  });
});

describe('variants from files of the bundle', () => {
  // Of other levels than docshelf's own.
  const ENCODED = { gz: gzipSync(TEXT, { level: 1 }), br: brotliCompressSync(TEXT), zst: zstdCompressSync(TEXT) };
  const GZ_DATA = ENCODED.gz.subarray(10);

  async function sent(files: Files, coding: string): Promise<Buffer> {
    const site = await release({ 'data.csv': TEXT, ...files });
    await make(site);
    const response = await serve([site]).ask('/data.csv', { 'accept-encoding': coding });
    expect(response.headers.get('content-encoding')).toBe(coding);
    return bytesOf(response);
  }

  it.each([
    ['gzip', 'gz'],
    ['br', 'br'],
    ['zstd', 'zst'],
  ] as const)('are sent as they are where they decode to the same bytes: %s', async (coding, ending) => {
    expect((await sent({ [`data.csv.${ending}`]: ENCODED[ending] }, coding)).equals(ENCODED[ending])).toBe(true);
  });

  it('may have all that a gzip header may have', async () => {
    const fields = [Buffer.from([3, 0]), Buffer.from('abc'), Buffer.from('data.csv\0a comment\0'), Buffer.from([1, 2])];
    const header = Buffer.from([0x1f, 0x8b, 8, 0x1e, 1, 2, 3, 4, 0, 3]);
    // RFC 1952, section 2.3.1: its last field, a checksum of it.
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
    // Browsers read the first one alone.
    ['two members', Buffer.concat([START ?? '', REST ?? ''].map(Buffer.from))],
    ['an empty member before it', Buffer.concat([gzipSync(''), ENCODED.gz])],
    ['an empty member behind it', Buffer.concat([ENCODED.gz, gzipSync('')])],
    ['zeros behind it', Buffer.concat([ENCODED.gz, Buffer.alloc(512)])],
    ['another checksum', changed(-8)],
    ['another length', changed(-4)],
    [
      'a name that does not end',
      Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]), Buffer.alloc(2000, 'x')]),
    ],
    ['a flag of a later format', Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0x20, 0, 0, 0, 0, 0, 3]), GZ_DATA])],
  ])('are no gzip file with %s', async (_, file) => {
    const body = await sent({ 'data.csv.gz': file }, 'gzip');
    expect(body.equals(gzipSync(TEXT, { level: 9 }))).toBe(true);
  });

  const LIES: Readonly<Record<string, (of: (text: string | Buffer) => Buffer, sound: Buffer) => Buffer>> = {
    'of other bytes': (of) => of(TEXT.replace('some', 'soma')),
    'that are longer': (of) => of(`${TEXT}!`),
    'that are shorter': (of) => of(TEXT.slice(1)),
    'of a bomb': (of) => of(Buffer.alloc(4 * 1024 ** 2)),
    'cut off': (_, sound) => sound.subarray(0, -3),
    'with something behind them': (_, sound) => Buffer.concat([sound, Buffer.from('more')]),
    'of nothing': () => Buffer.alloc(0),
  };
  const ENCODE = { gz: gzipSync, br: brotliCompressSync, zst: zstdCompressSync };
  const cases = (['gz', 'br', 'zst'] as const).flatMap((ending) =>
    Object.keys(LIES).map((name) => [ending, name] as const),
  );

  it.each(cases)('are left alone otherwise: .%s %s', async (ending, name) => {
    const lie = LIES[name]?.((text) => ENCODE[ending](text), ENCODED[ending]) ?? Buffer.alloc(0);
    const coding = ({ gz: 'gzip', br: 'br', zst: 'zstd' } as const)[ending];
    const site = await release({ 'data.csv': TEXT, [`data.csv.${ending}`]: lie });
    await make(site);
    const response = await serve([site]).ask('/data.csv', { 'accept-encoding': coding });
    expect((await bytesOf(response)).equals(lie)).toBe(false);
    const { ask } = serve([site]);
    expect((await bytesOf(await ask(`/data.csv.${ending}`))).equals(lie)).toBe(true);
  });
});

it('mostLinked() counts the pages that lead to a page', async () => {
  const site = releases.make({
    'index.html': '<a href="guide/">guide</a><a href="/docs/a">a</a>',
    'guide/index.html': '<a href="../a.html#x">a</a><a href="../a.html#y">a</a><a href="https://elsewhere/b">b</a>',
    'a.html': '<a href="a.html">own</a><base href="/other/">',
    'b.html': '<a href="/docs/a?x=1">a</a>',
  });
  const linked = await mostLinked(site.files, { releaseDir: folderOf(site), builtFor: '/docs/' }, 1);
  expect([...linked]).toEqual(['a.html']);
  expect((await mostLinked(site.files, { releaseDir: folderOf(site), builtFor: '/docs/' }, 4)).size).toBe(4);
});
