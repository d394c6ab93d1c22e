import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleFile, corpus, importBundle, newHome, whyNoCorpus } from '../helpers/corpus.ts';
import { type Bench, type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { decodeBody } from '../helpers/decode-body.ts';
import { readArchive } from '../helpers/read-archive.ts';
import { sideBySide } from '../helpers/side-by-side.ts';
import { type Answer, addressOf, SiteClient } from '../helpers/site-client.ts';
import { BuiltSite } from './built-site.ts';
import { NEXT_JUNE, SITES } from './bundles.ts';

const CONNECTIONS = 16;
/** Interval of files that are also requested with compression. */
const ENCODED_EVERY = 7;

/** Imports an archive by the command, and starts a daemon. */
async function serve(bench: Bench, archive: string): Promise<DaemonProcess> {
  const folder = await newHome(bench, { search: { enabled: false } });
  const { version } = await importBundle(bench, folder, archive);
  const daemon = await bench.start(null, { folder });
  await daemon.untilServing(version);
  return daemon;
}

const isHidden = (path: string): boolean => /(?:^|\/)\.|^_(?:headers|redirects)$/.test(path);

describe.skipIf(corpus === undefined).each(SITES)(`the bundle $name${whyNoCorpus}`, (known) => {
  const bench = openBench(afterAll);
  const left = new Set(known.launchers);
  let daemon: DaemonProcess;
  let client: SiteClient;
  let site: BuiltSite;

  beforeAll(async () => {
    const archive = await readArchive(bundleFile(known.name));
    expect([...archive.keys()].filter((path) => !path.startsWith(known.root))).toEqual([]);
    site = new BuiltSite(new Map([...archive].map(([path, bytes]) => [path.slice(known.root.length), bytes])));
    daemon = await serve(bench, bundleFile(known.name));
    client = new SiteClient(daemon.site, CONNECTIONS);
    bench.onEnd(() => client.close());
  });

  it('serves every file unchanged, except launchers, dotfiles and rule files', async () => {
    const wrong: string[] = [];
    await sideBySide(site.files, CONNECTIONS, async ([path, bytes]) => {
      const { status, body, headers } = await client.get(addressOf(path), { 'accept-encoding': 'identity' });
      const isServed = !left.has(path) && !isHidden(path);
      const isRight = isServed
        ? status === 200 && body.equals(bytes) && headers['content-length'] === String(bytes.length)
        : status === 404;
      if (!isRight) wrong.push(`${path}: ${status}, ${body.length} of ${bytes.length} bytes`);
    });
    expect(wrong).toEqual([]);
    const { active } = await daemon.status();
    expect(active?.pages).toBe(known.pages);
  });

  it.each(['gzip', 'br'] as const)(
    'serves a sample of files with Content-Encoding %s, and the decoded bytes equal the original bytes',
    async (encoding) => {
      const sample = [...site.files].filter(
        ([path], at) => at % ENCODED_EVERY === 0 && !left.has(path) && !isHidden(path),
      );
      const wrong: string[] = [];
      let encoded = 0;
      await sideBySide(sample, CONNECTIONS, async ([path, bytes]) => {
        const answer = await client.get(addressOf(path), { 'accept-encoding': encoding });
        const { status, headers } = answer;
        const sent = headers['content-encoding'];
        if (sent === encoding) encoded++;
        const isRight = status === 200 && headers.vary !== undefined && (await decodeBody(answer)).equals(bytes);
        if (!isRight) wrong.push(`${path}: ${status} ${sent}`);
      });
      expect(wrong).toEqual([]);
      expect(encoded).toBeGreaterThan(sample.length / 4);
    },
  );

  it('resolves every link like the original site, after at most one redirect', async () => {
    const links = site.links();
    const unresolved = links.filter(({ file }) => file === null);
    const targets = new Set(unresolved.map(({ page, href }) => new URL(href, `http://site.test/${page}`).pathname));
    expect([unresolved.length, targets.size]).toEqual(known.unresolved);
    expect(links.length).toBeGreaterThanOrEqual(known.linksMin);

    const addresses = await addressesOfPages();
    /** Expected file by address. Addresses in many pages are requested once. */
    const expected = new Map<string, string>();
    const contradictions: string[] = [];
    for (const { page, href, file } of links) {
      if (file === null || left.has(file) || isHidden(file)) continue;
      const { pathname, search } = new URL(href, `${daemon.site}${addresses.get(page)}`);
      const address = pathname + search;
      if ((expected.get(address) ?? file) !== file) contradictions.push(`${page} -> ${href}`);
      expected.set(address, file);
    }
    expect(contradictions).toEqual([]);

    const wrong: string[] = [];
    await sideBySide(expected, CONNECTIONS, async ([address, file]) => {
      const { answer, redirects } = await follow(address);
      const isRight = answer.status === 200 && redirects <= 1 && site.files.get(file)?.equals(answer.body);
      if (!isRight) wrong.push(`${address} -> ${file}: ${answer.status} after ${redirects} redirects`);
    });
    expect(wrong).toEqual([]);
    expect(expected.size).toBeGreaterThan(known.pages / 2);
  });

  if (known.name === NEXT_JUNE)
    it('serves /guides/rpc despite a folder of the same name, and a data file for each request with the query `_rsc`', async () => {
      const { status, body, headers } = await client.get('/guides/rpc');
      expect([status, headers['content-type']]).toEqual([200, expect.stringMatching(/^text\/html/)]);
      expect(body.equals(site.files.get('guides/rpc.html') ?? Buffer.of())).toBe(true);
      expect([...site.files.keys()].some((path) => path.startsWith('guides/rpc/'))).toBe(true);
      const payloads = [...site.files].filter(([path]) => path.endsWith('.txt'));
      const wrong: string[] = [];
      await sideBySide(payloads, CONNECTIONS, async ([path, bytes]) => {
        const answer = await client.get(`${addressOf(path)}?_rsc=1a2b3`, { rsc: '1' });
        const type = answer.headers['content-type'];
        const isRight = answer.status === 200 && answer.body.equals(bytes) && type?.startsWith('text/plain');
        if (!isRight) wrong.push(`${path}: ${answer.status} ${type}`);
      });
      expect(payloads.length).toBeGreaterThan(80 * 5);
      expect(wrong).toEqual([]);
    });

  /** Address in the browser for each page: its clean address, or the target of its redirect. */
  async function addressesOfPages(): Promise<Map<string, string>> {
    const addresses = new Map<string, string>();
    await sideBySide(site.pages, CONNECTIONS, async (page) => {
      const clean = page.replace(/(?:(?:^|\/)index)?\.x?html?$/, '');
      // `x.html` takes precedence over `x/index.html`, whose own address then ends in a slash.
      const isOvershadowed = site.fileAt(clean) !== page;
      const { answer, address } = await follow(addressOf(isOvershadowed ? `${clean}/` : clean));
      if (answer.status !== 200) throw new Error(`page ${page} has no address: ${answer.status}`);
      addresses.set(page, address);
    });
    return addresses;
  }

  async function follow(start: string): Promise<{ answer: Answer; address: string; redirects: number }> {
    let address = start;
    for (let redirects = 0; ; redirects++) {
      const answer = await client.get(address, { 'accept-encoding': 'identity' });
      const { location } = answer.headers;
      if (location === undefined || redirects === 5) return { answer, address, redirects };
      const { pathname, search } = new URL(location, `${daemon.site}${address}`);
      address = pathname + search;
    }
  }
});

describe.skipIf(corpus === undefined)(`the bundle sphinx-symlinks.tar.gz${whyNoCorpus}`, () => {
  const bench = openBench(afterAll);

  it('is rejected because it contains symbolic links, and leaves no files behind', async () => {
    const folder = await newHome(bench, { search: { enabled: false } });
    const refused = importBundle(bench, folder, bundleFile('sphinx-symlinks.tar.gz'));
    await expect(refused).rejects.toMatchObject({ code: 'type_symlink' });
    for (const place of ['releases', 'staging', 'sites']) {
      expect(await readdir(join(folder, 'data', place))).toEqual([]);
    }
  });
});
