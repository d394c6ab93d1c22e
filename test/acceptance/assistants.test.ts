import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConfigFile, type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { freePort } from '../helpers/free-ports.ts';
import { PROGRAM, runDocshelf, spawnProgram } from '../helpers/program.ts';
import { type Files, writeFiles } from '../helpers/write-files.ts';
import { contentOf, JSON_BOTH } from '../http/mcp/assistant-bench.ts';
import { basic } from '../http/sign-in/guarded-listener.ts';
import { bundle } from './bundles.ts';
import { exporterOf, organizations } from './export-service.ts';
import { siteEntry, startServing, startWithVersions } from './start.ts';

/** The official MCP client uses a running daemon and `docshelf mcp`. */

const bench = openBench(afterAll);
const MANUAL = join(import.meta.dirname, '../../docs');
/** Password `correct horse`, with bcrypt cost 4. */
const USERS = 'anna:$2y$04$Nuq.jlV0goywBMrqjGx.LOsLa4Ecagy1IAw9MYcsF2wmiJv43N9ba\n';
const ANNA = basic('anna', 'correct horse');
const DOOR = '/_docshelf/mcp';

async function connect(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  bench.onEnd(() => client.close());
  return client;
}

/** Starts `docshelf mcp` as an assistant does. */
async function startLocal(configFile: string, args: readonly string[] = []): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const command = { command: process.execPath, args: [PROGRAM, 'mcp', '--config', configFile, ...args] };
  await client.connect(new StdioClientTransport({ ...command, stderr: 'ignore' }));
  bench.onEnd(() => client.close());
  return client;
}

const use = async (client: Client, name: string, args: Record<string, unknown>) =>
  contentOf(await client.callTool({ name, arguments: args }));
const versionAt = async (client: Client) => (await use(client, 'read_page', { address: '/' })).facts.version;

const startWith = (archives: Files, config: ConfigFile, files: Files = {}): Promise<DaemonProcess> =>
  startServing(bench, archives, { search: { mcp: true }, ...config }, files);

/** A question about the manual, the page that answers it, and text of that page. */
const QUESTIONS: readonly (readonly [question: string, page: string, says: RegExp])[] = [
  ['how do I roll back to the version before', '/versions', /docshelf bundle rollback/],
  ['carry bundles over an air gap with checksums', '/air-gap-host', /docshelf transfer pack/],
  ['readers sign in with passwords of an htpasswd file', '/sign-in', /htpasswd -B/],
  ['HSTS and a port that redirects to TLS', '/tls', /redirectPort/],
  ['helm chart values in Kubernetes', '/kubernetes', /helm (?:install|upgrade)/],
  ['crawl a live site with Chromium', '/crawling', /render: chromium/],
  ['memory and disk of a site of 10,000 pages', '/sizing', /10,000/],
  ['one reload adds and removes sites of the list', '/many-sites', /hosts:/],
  ['rules of a site in _redirects and _headers', '/serving', /_redirects/],
  ['connect Claude Code or Cursor by the Model Context Protocol', '/assistants', /claude mcp add/],
];

describe('the MCP server on docshelf’s own manual', () => {
  let daemon: DaemonProcess;
  beforeAll(async () => {
    const folder = await bench.folder();
    await cp(MANUAL, join(folder, 'manual'), { recursive: true });
    const port = await freePort();
    const config = {
      deployment: { domain: 'acme' },
      staticExport: { enabled: true, from: 'exports' },
      api: { port },
      search: { mcp: true },
      exportApi: { enabled: true },
      organizations: organizations({ kind: 'markdown', path: './manual' }),
    };
    daemon = await bench.start(config, { folder });
    await exporterOf(daemon, port).export('acme', { version: 'v1' });
    await daemon.until(({ state }) => state === 'ready');
  });

  it('finds the right page for ten questions', async () => {
    const client = await connect(daemon.site + DOOR);
    const found: [string, string | undefined][] = [];
    for (const [question, , says] of QUESTIONS) {
      const { facts } = await use(client, 'search', { query: question, pageSize: 5 });
      const [best] = facts.results as readonly { address: string; version: string; title: string }[];
      found.push([question, best?.address.replace(/(?:\.html)?(?:#.*)?$/, '')]);
      const read = await use(client, 'read_page', { address: best?.address, length: 60_000 });
      expect(read.facts).toMatchObject({ version: 'v1', title: best?.title });
      expect(read.text).toMatch(says);
    }
    expect(found).toEqual(QUESTIONS.map(([question, page]) => [question, page]));
  });

  it('lists and reads each page of the manual', async () => {
    const client = await connect(`${daemon.site}/mcp`);
    const { facts } = await use(client, 'list_pages', { recursive: true, limit: 500 });
    const entries = facts.entries as readonly { address: string; title: string }[];
    const sources = (await readdir(MANUAL, { recursive: true })).filter((name) => name.endsWith('.md'));
    expect(entries).toHaveLength(sources.length);
    for (const { address, title } of entries) {
      const read = await use(client, 'read_page', { address, length: 200 });
      expect(read.facts).toMatchObject({ address, title: expect.any(String) });
      expect(title.length).toBeGreaterThan(2);
      expect(read.text.length).toBeGreaterThan(100);
    }
  });

  it('returns the right page to a local assistant while the daemon runs, and after the daemon has stopped', async () => {
    const client = await startLocal(daemon.configFile);
    const [question = '', page] = QUESTIONS[1] ?? [];
    const send = async () => {
      const { facts } = await use(client, 'search', { query: question, pageSize: 1 });
      const [best] = facts.results as readonly { address: string }[];
      return best?.address.replace(/(?:\.html)?(?:#.*)?$/, '');
    };
    expect(await send()).toBe(page);
    await daemon.stop();
    expect(await send()).toBe(page);
    expect(await versionAt(client)).toBe('v1');
  });
});

describe('an MCP session', () => {
  it('reads a newly activated version, and continues after a restart of the daemon', async () => {
    const port = await freePort();
    const archives = {
      'acme-export-2024-06-01.tar.gz': bundle('june'),
      'acme-export-2024-07-01.tar.gz': bundle('july'),
    };
    const server = { port };
    const daemon = await startWith(archives, { staticExport: { enabled: true, version: '2024-06-01' }, server });
    const client = await connect(daemon.site + DOOR);
    const local = await startLocal(daemon.configFile);
    const named = async (of: Client): Promise<string[]> => (await of.listTools()).tools.map(({ name }) => name);
    expect(await named(client)).toEqual(await named(local));
    expect(await versionAt(client)).toBe('2024-06-01');
    expect(await versionAt(local)).toBe('2024-06-01');
    expect((await fetch(`${daemon.site}/mcp`)).status).toBe(405);
    const large = { method: 'POST', headers: JSON_BOTH, body: JSON.stringify({ fill: 'x'.repeat(70_000) }) };
    expect((await fetch(daemon.site + DOOR, large)).status).toBe(413);

    await daemon.rewriteConfig({ staticExport: { version: '2024-07-01' } });
    await daemon.untilServing('2024-07-01');
    expect(await versionAt(client)).toBe('2024-07-01');
    expect(await versionAt(local)).toBe('2024-07-01');
    const found = await use(client, 'search', { query: 'july' });
    expect(found.facts.results).not.toEqual([]);

    await daemon.stop();
    const again = await bench.start(null, { folder: daemon.folder });
    await again.untilServing('2024-07-01');
    expect(await versionAt(client)).toBe('2024-07-01');
  });

  it('requires the sign-in of the site', async () => {
    const server = { auth: { kind: 'basic', usersFile: './users' } };
    const daemon = await startWith({ 'docs-2024-06-01.tar.gz': bundle('lighthouse') }, { server }, { users: USERS });
    for (const path of [DOOR, '/mcp']) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
      const refused = await fetch(daemon.site + path, { method: 'POST', headers: JSON_BOTH, body });
      expect(refused.status).toBe(401);
      expect(await refused.text()).not.toContain('read_page');
    }
    await expect(connect(daemon.site + DOOR)).rejects.toThrow();
    const client = await connect(daemon.site + DOOR, { authorization: ANNA });
    expect((await use(client, 'read_page', { address: '/' })).text).toContain('lighthouse');
  });

  it('reads the site that the address of the session or --site selects, unless search.mcp of this site is false', async () => {
    const archives = ['acme', 'globex', 'quiet'].map((domain) => [`${domain}/x-2024-06-01.tar.gz`, bundle('june')]);
    const sites = [siteEntry('acme'), siteEntry('globex'), siteEntry('quiet', { search: { mcp: false } })];
    const daemon = await startWith(Object.fromEntries(archives), { sites });
    for (const domain of ['acme', 'globex']) {
      const client = await connect(`${daemon.site}/${domain}${DOOR}`);
      expect((await use(client, 'list_pages', {})).facts.entries).toMatchObject([
        { address: `/${domain}/` },
        { folder: `/${domain}/guides/`, pages: 1 },
      ]);
      const local = await startLocal(daemon.configFile, ['--site', domain]);
      expect((await use(local, 'read_page', { address: `/${domain}/guides/start` })).facts).toMatchObject({
        address: expect.stringMatching(new RegExp(`^/${domain}/guides/start`)),
        version: '2024-06-01',
      });
    }
    const post = async (path: string): Promise<number> => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
      return (await fetch(daemon.site + path, { method: 'POST', headers: JSON_BOTH, body })).status;
    };
    expect([await post(`/quiet${DOOR}`), await post(DOOR), await post('/mcp')]).toEqual([405, 405, 405]);
    await daemon.rewriteConfig({ sites: ['acme', 'globex', 'quiet'].map((domain) => siteEntry(domain)) });
    await expect.poll(() => post(`/quiet${DOOR}`)).toBe(200);
    const many = await bench.run(['mcp', '--config', daemon.configFile]);
    expect([many.code, many.stdout]).toEqual([64, '']);
    expect(many.stderr).toContain('--site');
  });
});

const pageOf = (mark: string) =>
  `<!doctype html><title>Keys</title><h1>Rotate keys</h1><p>Rotate the keys of ${mark}.</p>`;

it('an assistant reads kept versions over HTTP and stdio, but no staged version', async () => {
  const [june, july] = ['June', 'July'].map((mark) => bundle(mark, { 'keys/index.html': pageOf(mark) }));
  const { daemon, importBundle } = await startWithVersions(
    bench,
    { 'v1.0+june': june as Buffer, 'v2.0': july as Buffer },
    { staticExport: { serveVersions: 'kept', keep: 5 }, search: { mcp: true } },
  );
  await importBundle('v3', bundle('staged'), '--no-activate');
  for (const client of [await connect(daemon.site + DOOR), await startLocal(daemon.configFile)]) {
    expect((await use(client, 'list_pages', {})).facts.versions).toEqual(['v2.0', 'v1.0+june']);
    const found = await use(client, 'search', { query: 'rotate keys', version: 'v1.0+june', pageSize: 1 });
    const [{ address }] = found.facts.results as [{ address: string }];
    expect(address).toMatch(/^\/_docshelf\/v\/v1\.0\+june\/keys/);
    const read = await use(client, 'read_page', { address });
    expect([read.facts.version, read.text]).toEqual(['v1.0+june', expect.stringContaining('keys of June')]);
    expect((await use(client, 'read_page', { address: '/keys/' })).text).toContain('keys of July');
    const staged = await client.callTool({ name: 'read_page', arguments: { address: '/', version: 'v3' } });
    expect(staged).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('no such version') }] });
  }
});

describe('docshelf mcp', () => {
  it('writes only protocol messages to stdout, responds to invalid messages, and exits at the end of stdin', async () => {
    const daemon = await startWith({ 'docs-2024-06-01.tar.gz': bundle('june') }, { search: { mcp: false } });
    expect((await fetch(daemon.site + DOOR, { method: 'POST' })).status).toBe(405);
    const child = spawnProgram(['mcp', '--config', daemon.configFile], daemon.folder, {});
    let written = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      written += chunk.toString();
    });
    const lines = ['no json', '{"jsonrpc":"2.0"}', '[]', '{"jsonrpc":"2.0","id":7,"method":"ping"}', ''];
    child.stdin?.write(lines.join('\n'));
    await expect.poll(() => written).toContain('"id":7');
    for (const line of written.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    child.stdin?.end();
    expect(await ended).toBe(0);

    // The server responds to a request whose bytes end together with the input.
    const lineOf = (id: number, method: string, params: object) =>
      JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const messages = [
      lineOf(1, 'initialize', hello),
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
      lineOf(2, 'tools/call', { name: 'read_page', arguments: { address: '/' } }),
    ];
    const { stdout, code } = await runDocshelf(['mcp', '--config', daemon.configFile], {
      input: Buffer.from(`${messages.join('\n')}\n`),
    });
    expect([
      code,
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ]).toEqual([0, [1, 2]]);
    expect(await runDocshelf(['mcp', '--config', daemon.configFile])).toMatchObject({ code: 0, stdout: '' });
  });

  it('starts without an active version and reports the missing version to the assistant, but exits with an error without a config', async () => {
    const folder = await bench.folder();
    const wrong = await bench.run(['mcp', '--config', join(folder, 'none.yaml')]);
    expect([wrong.code, wrong.stdout]).toEqual([78, '']);
    const configFile = await bench.writeConfig(folder, { search: {} });
    const client = await startLocal(configFile);
    const answer = await client.callTool({ name: 'search', arguments: { query: 'a' } });
    expect(answer).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('no version is active') }],
    });
    // A new version is found with the next question.
    await writeFiles(folder, { 'docs-2024-06-01.tar.gz': bundle('june') });
    const imported = await bench.run(['bundle', 'import', 'docs-2024-06-01.tar.gz'], { cwd: folder });
    expect(imported.code).toBe(0);
    expect(await versionAt(client)).toBe('2024-06-01');
    const found = await use(client, 'search', { query: 'june' });
    expect(found.facts.results).not.toEqual([]);
  });
});
