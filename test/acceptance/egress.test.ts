import { spawn, spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type ConfigFile, openBench, waitFor } from '../helpers/daemon.ts';
import { freePorts } from '../helpers/free-ports.ts';
import { httpServer, type LocalServer, tcpServer } from '../helpers/local-server.ts';
import { writeFiles } from '../helpers/write-files.ts';
import { send } from '../http/sign-in/guarded-listener.ts';
import { bundle } from './bundles.ts';
import { ExportClient, KEYS, organizations, SITE } from './export-service.ts';

/**
 * Checks with strace each connection that the program opens. Without strace, these tests fail. `test/config/egress.test.ts`
 * checks that the egress policy covers each key with a URL.
 */
const bench = openBench(afterEach);
const PROGRAM = join(import.meta.dirname, '../../dist/main.js');
const STRACE = ['-f', '-yy', '--seccomp-bpf', '-qq', '-e', 'trace=connect'];
const START_MS_MAX = 120_000;
const HTML = { 'content-type': 'text/html' };
const JSON_TYPE = { 'content-type': 'application/json' };
const PUBLIC_KEY = 'RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3';

/** Addresses and ports of the connections in a trace, without sockets of this machine. */
async function connectionsIn(trace: string): Promise<string[]> {
  const text = await readFile(trace, 'utf8');
  // Chromium opens a datagram socket to find out whether IPv6 has a route. It sends nothing through it.
  const opened = text.split('\n').filter((line) => !/<UDPv6:.*"2001:4860:4860::8888"/.test(line));
  const found = opened.join('\n').matchAll(/sin6?_port=htons\((\d+)\).*?"([0-9a-f.:]+)"/g);
  return [...new Set(Array.from(found, ([, port, address]) => `${address}:${port}`))].sort();
}

/** Runs the program in that folder under strace. */
function traced(folder: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const trace = join(folder, `${args[0]}.trace`);
  const { PATH = '' } = process.env;
  const child = spawn('strace', [...STRACE, '-o', trace, process.execPath, PROGRAM, ...args], {
    cwd: folder,
    env: { PATH, HOME: folder, ...more },
    detached: true,
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => {
      log += data.toString();
    });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  bench.onEnd(async () => {
    if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGTERM');
    await ended;
  });
  return { log: () => log, ended, connections: () => connectionsIn(trace) };
}

/** Starts a daemon under strace, and waits until its log contains these words. */
async function served(folder: string, words: string, more: Readonly<Record<string, string>> = {}) {
  const daemon = traced(folder, ['serve'], more);
  await waitFor(
    () => (daemon.log().includes(words) ? true : null),
    () => `no "${words}" in its log: ${daemon.log()}`,
    START_MS_MAX,
  );
  return daemon;
}

describe('a deployment with network.allowedHosts', () => {
  test('connects only to hosts that the config names, and does not follow a redirect to any other host', async () => {
    const [site = 0, admin = 0, api = 0] = await freePorts(3);
    const trap = await httpServer((_, response) => response.end('trap'));
    const away = [
      `${trap.origin}/x.png`,
      `http://127.0.0.1:${admin}/v1/status`,
      `http://localhost:${api}/openapi.json`,
    ];
    const names = ['bundles', 'registry', 'service', 'model', 'search', 'store', 'docs'] as const;
    const answers: Partial<Record<(typeof names)[number], Parameters<typeof httpServer>[0]>> = {
      bundles: ({ url }, response) => {
        if (url === '/docs-v1.0.0.tar.gz') response.end(bundle('one'));
        else response.writeHead(302, { location: away[0] }).end();
      },
      docs: ({ url }, response) => {
        const at = /^\/go(\d)/.exec(url ?? '')?.[1];
        if (at !== undefined) response.writeHead(302, { location: away[Number(at)] }).end();
        else if (url !== '/') response.writeHead(404, HTML).end();
        else {
          const links = away.map(
            (href, index) => `<img src="${href}"><img src="/go${index}"><a href="/go${index}">x</a>`,
          );
          response.writeHead(200, HTML).end(`<!doctype html><title>Docs</title><p>Docs</p>${links.join('')}`);
        }
      },
    };
    const servers = Object.fromEntries(
      await Promise.all(
        names.map(async (name) => [
          name,
          await httpServer(answers[name] ?? ((_, response) => response.writeHead(403).end())),
        ]),
      ),
    ) as Record<(typeof names)[number], LocalServer>;

    const folder = await bench.folder();
    await writeFile(join(folder, 'key'), 'svc_key-of-the-service', { mode: 0o600 });
    const config: ConfigFile = {
      deployment: { domain: 'acme' },
      server: { host: '127.0.0.1', port: site },
      admin: { port: admin },
      api: { port: api },
      network: { proxy: 'off', retries: 0, allowedHosts: names.map((name) => servers[name].host) },
      staticExport: {
        bundleUrl: `${servers.bundles.origin}/docs-v1.0.0.tar.gz`,
        renew: { apiUrl: servers.service.origin, keyFile: './key' },
      },
      features: { search: { enabled: true, discoveryUrl: servers.search.origin, keyFile: './key' } },
      search: { model: { url: `${servers.model.origin}/v1/embeddings`, model: 'm', keyFile: './key' } },
      exportApi: {
        enabled: true,
        browser: { verify: 'off', sandbox: 'off' },
        store: {
          kind: 's3',
          bucket: 'b',
          endpoint: servers.store.origin,
          pathStyle: true,
          accessKeyId: 'AKID',
          secretAccessKey: 'secret',
        },
      },
      organizations: organizations({
        kind: 'crawl',
        url: `${servers.docs.origin}/`,
        render: process.env.DOCSHELF_CHROMIUM === undefined ? 'none' : 'chromium',
        allowAddresses: ['127.0.0.0/8'],
      }),
    };
    await writeFiles(join(folder, 'globex'), SITE);
    await bench.writeConfig(folder, config);
    const daemon = await served(folder, '"event":"activated"');
    await expect.poll(async () => (await fetch(`http://127.0.0.1:${site}/_docshelf/search?q=one`)).status).toBe(200);
    const client = new ExportClient(`http://127.0.0.1:${api}`, KEYS.acme);
    const job = await client.ended((await client.start('acme')).jobId);
    // The job reaches the store, which rejects it.
    expect([job.status, job.error]).toEqual(['failed', expect.stringContaining('the store denies access')]);

    const doctor = traced(folder, ['doctor']);
    const pull = traced(folder, ['bundle', 'import', `oci://${servers.registry.host}/acme:v1`]);
    await Promise.all([doctor.ended, pull.ended]);

    expect(names.filter((name) => servers[name].requests.length === 0)).toEqual([]);
    expect(trap.requests).toEqual([]);
    const named = names.map((name) => servers[name].host);
    const others = async ({ connections }: ReturnType<typeof traced>) =>
      (await connections()).filter((each) => !named.includes(each));
    expect(await others(daemon)).toEqual([]);
    expect(await others(pull)).toEqual([]);
    // The doctor requests the status of the running daemon.
    expect(await others(doctor)).toEqual([`127.0.0.1:${admin}`]);
  });

  test('connects only to the configured hosts of the bucket, signature, identity provider, trace collector and database', async () => {
    const [site = 0, admin = 0, api = 0] = await freePorts(3);
    const trap = await httpServer((_, response) => response.end('trap'));
    const toTrap: Parameters<typeof httpServer>[0] = (_, response) =>
      response.writeHead(302, { location: trap.origin }).end();
    const bucket = await httpServer((_, response) => response.end(bundle('one')));
    const signature = await httpServer(toTrap);
    const collector = await httpServer(toTrap);
    const issuer = await httpServer(({ headers }, response) => {
      const ends = Object.fromEntries(
        ['authorization_endpoint', 'token_endpoint', 'jwks_uri'].map((name) => [name, `${trap.origin}/${name}`]),
      );
      response.writeHead(200, JSON_TYPE).end(JSON.stringify({ issuer: `http://${headers.host}`, ...ends }));
    });
    const database = await tcpServer((socket) => socket.destroy());
    bench.onEnd(() => database.close());
    const named = [bucket, signature, collector, issuer, database].map(({ host }) => host).sort();

    const folder = await bench.folder();
    await writeFile(join(folder, 'database'), `postgres://docshelf:word@${database.host}/docs`, { mode: 0o600 });
    await bench.writeConfig(folder, {
      server: {
        host: '127.0.0.1',
        port: site,
        publicUrl: `http://127.0.0.1:${site}`,
        auth: { kind: 'oidc', issuer: issuer.origin, clientId: 'docs' },
      },
      admin: { port: admin },
      api: { port: api },
      network: { proxy: 'off', retries: 0, allowedHosts: named, s3: { endpoint: bucket.origin, pathStyle: true } },
      staticExport: {
        bundleUrl: 's3://docs/docs-v1.0.0.tar.gz',
        signature: { publicKeys: [PUBLIC_KEY], url: `${signature.origin}/docs.minisig` },
      },
      traces: { endpoint: collector.origin },
      database: { urlFile: './database' },
    });
    const keys = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret' };
    const daemon = await served(folder, '"code":"host_not_allowed"', keys);
    expect(await send(site, '/', { accept: 'text/html' })).toMatchObject({
      status: 302,
      headers: { location: expect.stringContaining(trap.origin) },
    });
    // The provider's metadata names the address of its keys.
    const token = ['{"alg":"RS256"}', '{}', 'x'].map((part) => Buffer.from(part).toString('base64url')).join('.');
    expect((await send(site, '/', { authorization: `Bearer ${token}` })).status).toBe(503);
    await expect.poll(() => collector.requests).not.toEqual([]);
    // Without keys in the environment, it requests no metadata service of a cloud.
    const doctor = traced(folder, ['doctor']);
    await doctor.ended;

    expect(trap.requests).toEqual([]);
    expect(await daemon.connections()).toEqual(named);
    const asked = await doctor.connections();
    expect(asked.filter((each) => !named.includes(each))).toEqual([`127.0.0.1:${admin}`]);
    expect(asked).toContain(issuer.host);
  });
});

describe('an air-gapped deployment', () => {
  test('works without a network, and opens no connection', async () => {
    const [site = 0, admin = 0, api = 0] = await freePorts(3);
    const folder = await bench.folder();
    await writeFiles(join(folder, 'site'), SITE);
    await mkdir(join(folder, 'bundles'));
    await writeFile(join(folder, 'bundles', 'docs-v1.0.0.tar.gz'), bundle('lantern'));
    const base = {
      deployment: { type: 'air-gapped', domain: 'acme' },
      server: { host: '127.0.0.1', port: site },
      admin: { port: admin },
      api: { port: api },
      features: { search: true, assistant: true },
      search: {},
      exportApi: { enabled: true },
      organizations: organizations(),
    };
    await bench.writeConfig(folder, base);
    // Another process of the operator, outside the air gap.
    await mkdir(join(folder, 'client'));
    await bench.writeConfig(join(folder, 'client'), { storage: { dir: './none' } });
    const docshelf = `${process.execPath} ${PROGRAM}`;
    const script = `
      set -e
      ip link set lo up
      strace ${STRACE.join(' ')} -o serve.trace timeout 110 ${docshelf} serve > serve.log 2>&1 &
      daemon=$!
      # strace itself takes no signal.
      trap 'kill $(cat /proc/$daemon/task/$daemon/children); wait $daemon || true' EXIT
      for try in $(seq 240); do ${docshelf} healthcheck > /dev/null 2>&1 && break; sleep 0.5; done
      ${docshelf} healthcheck > health.log
      mkdir out
      ${docshelf} search lantern --json > search.json
      ${docshelf} export pull --config client/config.yaml --api-url http://127.0.0.1:${api} --domain acme --version v2 --output out --json > pull.json 2> pull.log
      ${docshelf} bundle import out/*.tar.gz > import.log
      strace ${STRACE.join(' ')} -o doctor.trace ${docshelf} doctor > doctor.log || true
      ! strace ${STRACE.join(' ')} -o fetch.trace ${docshelf} bundle import https://bundles.example/docs.tar.gz --json > fetch.json 2> fetch.log`;
    const run = spawnSync('unshare', ['-n', 'sh', '-c', script], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, DOCSHELF_API_KEY: KEYS.acme },
      encoding: 'utf8',
      timeout: START_MS_MAX,
    });
    expect([run.status, run.stdout, run.stderr]).toEqual([0, '', '']);
    const text = async (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
    expect(JSON.parse(await text('search.json'))).not.toEqual([]);
    expect(JSON.parse(await text('pull.json'))).toMatchObject({ version: 'v2' });
    expect(JSON.parse(await text('fetch.json'))).toMatchObject({ code: 'host_not_allowed' });
    for (const name of ['serve', 'fetch'])
      expect([name, await connectionsIn(join(folder, `${name}.trace`))]).toEqual([name, []]);
    expect(
      (await connectionsIn(join(folder, 'doctor.trace'))).filter((each) => !each.startsWith('127.0.0.1:')),
    ).toEqual([]);
  });

  test('rejects a config whose bundleUrl has a host outside of network.allowedHosts, and opens no connection', async () => {
    const folder = await bench.folder();
    const staticExport = { bundleUrl: 'https://x.example/a.tar.gz' };
    await bench.writeConfig(folder, { deployment: { type: 'air-gapped' }, staticExport });
    const start = traced(folder, ['serve']);
    const fault = expect.stringContaining('staticExport.bundleUrl contains a host');
    expect([await start.ended, start.log()]).toEqual([78, fault]);
    expect(await start.connections()).toEqual([]);
  });
});
