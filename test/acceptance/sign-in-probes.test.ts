import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { READ_ROUTES } from '../../src/http/site/site.ts';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { CLIENT, TestIdentityProvider } from '../helpers/identity-provider.ts';
import { RawConnection } from '../http/listener/raw-connection.ts';
import { basic, send } from '../http/sign-in/guarded-listener.ts';
import { bundle } from './bundles.ts';
import { startServing, untilSearchable } from './start.ts';

/**
 * No request gets a protected site without its sign-in: on no route of the site listener (new routes are probed too), with no
 * method, and by none of the bypasses in the table.
 */

const bench = openBench(afterAll);
const MARK = 'lighthouse';
const USERS = 'anna:$2y$04$Nuq.jlV0goywBMrqjGx.LOsLa4Ecagy1IAw9MYcsF2wmiJv43N9ba\n';
const ANNA = basic('anna', 'correct horse');

/** One site per kind of sign-in, at the root and under a path. The last one is open, and its rights apply only to it. */
const SITES = [
  { domain: 'pass', host: 'pass.test', basePath: '/', auth: { kind: 'basic', usersFile: './users' } },
  { domain: 'path', host: 'path.test', basePath: '/docs/', auth: { kind: 'basic', usersFile: './users' } },
  { domain: 'proxied', host: 'proxied.test', basePath: '/', auth: { kind: 'header', name: 'X-Remote-User' } },
  { domain: 'oidc', host: 'oidc.test', basePath: '/', auth: { kind: 'oidc' } },
  { domain: 'oidcpath', host: 'oidcpath.test', basePath: '/docs/', auth: { kind: 'oidc' } },
  { domain: 'open', host: 'open.test', basePath: '/', auth: { kind: 'none' } },
] as const;
const GUARDED = SITES.filter(({ auth }) => auth.kind !== 'none');
type ProbedSite = (typeof SITES)[number];

let daemon: DaemonProcess;
let provider: TestIdentityProvider;
let etag = '';
beforeAll(async () => {
  provider = await TestIdentityProvider.start();
  await provider.serve({ redirectUris: ['http://oidc.test/_docshelf/sign-in/callback'] });
  const archive = bundle(MARK, { 'app.4f3a9c1b2d.js': `/* ${MARK} */`, '404.html': `<p>${MARK}</p>` });
  const archives = Object.fromEntries(SITES.map(({ domain }) => [`${domain}/docs-2024-06-01.tar.gz`, archive]));
  const sites = SITES.map(({ host, auth, ...site }) => ({
    ...site,
    hosts: [host],
    staticExport: { enabled: true },
    auth: auth.kind === 'oidc' ? { ...auth, issuer: provider.issuer, clientId: CLIENT.id } : auth,
  }));
  // Documentation addresses of RFC 5737, which no client has.
  const server = { trustedProxies: ['192.0.2.1'], publicUrl: 'http://127.0.0.1:8080' };
  daemon = await startServing(bench, archives, { server, sites, search: {} }, { users: USERS });
  await untilSearchable(daemon);
  const page = await send(portOf(daemon.site), '/', { host: 'pass.test', authorization: ANNA });
  expect(page.body).toContain(MARK);
  etag = String(page.headers.etag);
  // Load the page into memory, so that a prepared response exists.
  for (let count = 0; count < 3; count++) await send(portOf(daemon.site), '/', { host: 'open.test' });
});

const portOf = (url: string): number => Number(new URL(url).port);

async function sendText(text: string): Promise<string> {
  const connection = await RawConnection.open(portOf(daemon.site));
  connection.write(text);
  return connection.untilClosed();
}

interface Probe {
  readonly name: string;
  readonly method?: string;
  /** Target of the request line. Default: the first page of the site. */
  readonly target?: (site: ProbedSite) => string;
  readonly host?: (site: ProbedSite) => string;
  readonly version?: '1.0';
  readonly headers?: readonly string[] | ((site: ProbedSite) => readonly string[]);
}

const below =
  (path: string) =>
  ({ basePath }: ProbedSite) =>
    basePath + path;
const at = (name: string, path: string): Probe => ({ name, target: below(path) });
const withHeaders = (name: string, ...headers: string[]): Probe => ({ name, headers });
const sealed = randomBytes(120).toString('base64url');

const PROBES: readonly Probe[] = [
  // Addresses that resemble public ones.
  at('a dot segment after the assets', '_docshelf/assets/../features.json'),
  at('an escaped dot segment', '_docshelf/assets/%2e%2e/features.json'),
  at('an escaped slash', '_docshelf/assets/..%2ffeatures.json'),
  at('an escaped backslash', '_docshelf/assets/..%5cfeatures.json'),
  at('a backslash', '_docshelf/assets\\..\\features.json'),
  at('a parameter segment', '_docshelf/assets/..;/features.json'),
  at('two slashes', '_docshelf//features.json'),
  at('two slashes before it', '/_docshelf/features.json'),
  at('an escaped letter', '_docshel%66/features.json'),
  at('a letter escaped twice', '_docshel%2566/features.json'),
  at('the free path in a query', '?/_docshelf/assets/a.css'),
  at('the free path in a fragment', '#/_docshelf/assets/a.css'),
  at('the free path as a parameter', ';/_docshelf/assets/a.css'),
  at('the reports and a step back', '_docshelf/csp-report/../features.json'),
  at('the reports with a query', '_docshelf/csp-report?a=/../features.json'),
  at('a page below the assets', '_docshelf/assets/a/../../../index.html'),
  at('a longer way round', 'a/../index.html'),
  at('a current segment', './index.html'),
  at('an escaped current segment', '%2e/index.html'),
  at('an escaped name', '%69ndex.html'),
  at('upper case', 'INDEX.HTML'),
  at('a null byte', 'index.html%00.css'),
  at('a name that is not there', 'nothing-of-this-name'),
  at('an asset of an older release', 'app.4f3a9c1b2d.js'),
  at('a sign-in that was never begun', '_docshelf/sign-in/callback?code=a&state=b'),
  at('a step back from the sign-in', '_docshelf/sign-in/callback/../../../index.html'),
  at('a step back from the sign-out', '_docshelf/sign-out/../../index.html'),
  at('a search', '_docshelf/search?q=lighthouse'),
  { name: 'the base path from outside', target: ({ basePath }) => `/a/..${basePath}index.html` },
  { name: 'the base path escaped', target: ({ basePath }) => `${basePath.replace('d', '%64')}index.html` },
  { name: 'the base path in two slashes', target: ({ basePath }) => `/${basePath}index.html` },
  { name: 'another case of the base path', target: ({ basePath }) => `${basePath.toUpperCase()}index.html` },
  // Forms of the host.
  { name: 'a host in upper case', host: ({ host }) => host.toUpperCase() },
  { name: 'a host with a last dot', host: ({ host }) => `${host}.` },
  { name: 'a host with another port', host: ({ host }) => `${host}:1` },
  {
    name: 'a whole address of the site, and the open host',
    host: () => 'open.test',
    target: ({ host, basePath }) => `http://${host}${basePath}`,
  },
  { name: 'a whole address in upper case', target: ({ host, basePath }) => `HTTP://${host.toUpperCase()}${basePath}` },
  { name: 'two hosts', headers: ['Host: open.test'] },
  withHeaders('a forwarded host', 'X-Forwarded-Host: open.test', 'Forwarded: host=open.test'),
  {
    name: 'HTTP/1.0 without a host and a whole address',
    version: '1.0',
    target: ({ host, basePath }) => `http://${host}${basePath}`,
  },
  { name: 'HTTP/1.0', version: '1.0', headers: ({ host }) => [`Host: ${host}`] },
  // Headers of proxies.
  withHeaders('the header of a proxy', 'X-Remote-User: anna'),
  withHeaders(
    'the header of a proxy, from its address by its own word',
    'X-Remote-User: anna',
    'X-Forwarded-For: 192.0.2.1',
  ),
  withHeaders('the header twice', 'X-Remote-User: anna', 'X-Remote-User: anna'),
  withHeaders('the header with an underscore', 'X_Remote_User: anna'),
  withHeaders('the header as one of the connection', 'X-Remote-User: anna', 'Forwarded: for=192.0.2.1;proto=https'),
  withHeaders('another address', 'X-Original-URL: /_docshelf/assets/a.css', 'X-Rewrite-URL: /_docshelf/assets/a.css'),
  withHeaders('a forwarded prefix', 'X-Forwarded-Prefix: /_docshelf/assets', 'X-Forwarded-Proto: https'),
  // Methods.
  { name: 'another method by a header', method: 'POST', headers: ['X-HTTP-Method-Override: GET', 'Content-Length: 0'] },
  { name: 'HEAD', method: 'HEAD' },
  { name: 'OPTIONS', method: 'OPTIONS' },
  {
    name: 'a preflight',
    method: 'OPTIONS',
    headers: ['Origin: http://evil.test', 'Access-Control-Request-Method: GET'],
  },
  { name: 'a method of WebDAV', method: 'PROPFIND' },
  // Ranges and conditions.
  withHeaders('a range', 'Range: bytes=0-10'),
  { name: 'a condition that holds', headers: () => [`If-None-Match: ${etag}`] },
  withHeaders('a condition on everything', 'If-None-Match: *'),
  { name: 'a range of what is known', headers: () => ['Range: bytes=0-', `If-Range: ${etag}`] },
  withHeaders('a body that waits', 'Expect: 100-continue', 'Content-Length: 0'),
  withHeaders(
    'another protocol',
    'Connection: Upgrade, close',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA',
  ),
  // Invalid credentials.
  withHeaders('an empty password', `Authorization: ${basic('anna', '')}`),
  withHeaders('no user', `Authorization: ${basic('', '')}`),
  withHeaders('a hash as a password', `Authorization: ${basic('anna', USERS.slice(5).trim())}`),
  withHeaders('a name of every object', `Authorization: ${basic('constructor', 'x')}`),
  withHeaders('two credentials', `Authorization: ${basic('anna', 'no')}`, 'Authorization: Bearer a'),
  withHeaders(
    'a token without a signature',
    `Authorization: Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`,
  ),
  withHeaders('a token in the query and in a form', 'Content-Type: application/x-www-form-urlencoded'),
  withHeaders(
    'a session that nobody has sealed',
    `Cookie: __Host-docshelf-8080=${sealed}; __Secure-docshelf-8080=${sealed}`,
  ),
  withHeaders('an empty session', 'Cookie: __Host-docshelf-8080=; __Secure-docshelf-8080='),
  withHeaders(
    'sessions of many',
    `Cookie: ${Array.from({ length: 50 }, () => `__Host-docshelf-8080=${sealed}`).join('; ')}`,
  ),
  withHeaders('a session without its prefix', `Cookie: docshelf-8080=${sealed}; __host-docshelf-8080=${sealed}`),
];

const textOf = (probe: Probe, site: ProbedSite): string => {
  const { method = 'GET', target = below(''), version = '1.1', headers = [] } = probe;
  const lines = typeof headers === 'function' ? headers(site) : headers;
  const host = version === '1.0' ? [] : [`Host: ${(probe.host ?? (({ host: own }) => own))(site)}`];
  const closing = lines.some((line) => /^connection:/i.test(line)) ? [] : ['Connection: close'];
  return `${[`${method} ${target(site)} HTTP/${version}`, ...host, ...lines, ...closing].join('\r\n')}\r\n\r\n`;
};

/** Null if the response reveals nothing. */
function leakOf(answer: string): string | null {
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1] ?? '';
  if (answer.includes(MARK) || answer.includes('"features"')) return `${status} with the site's own words`;
  if (answer.includes(etag)) return `${status} with an entity tag of the site`;
  return /^(?:2|304)/.test(status) || status === '' ? `status "${status}"` : null;
}

it('no attack request in the table PROBES returns content of a protected site', async () => {
  expect(PROBES.length).toBeGreaterThan(40);
  const leaks: string[] = [];
  for (const site of GUARDED) {
    for (const probe of PROBES) {
      const leak = leakOf(await sendText(textOf(probe, site)));
      // The page after sign-out may name the site.
      if (leak !== null) leaks.push(`${site.domain}: ${probe.name}: ${leak}`);
    }
  }
  console.log(`figure: ${PROBES.length * GUARDED.length} probes of sign-ins`);
  expect(leaks).toEqual([]);
});

it('every route of a protected site requires sign-in with any method, while an open site of the same daemon does not', async () => {
  const files = ['/', '/index.html', '/guides/start', '/app.4f3a9c1b2d.js', '/404.html'];
  const paths = [...files, ...READ_ROUTES.map((path) => `${path}?q=${MARK}`)];
  expect(paths.length).toBeGreaterThan(files.length);
  const leaks: string[] = [];
  for (const path of paths) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      for (const site of GUARDED) {
        const target = () => site.basePath.slice(0, -1) + path;
        const answer = await sendText(textOf({ name: '', method, target, headers: ['Content-Length: 0'] }, site));
        const leak = leakOf(answer) ?? (/^HTTP\/1\.1 (?:401|302) /.test(answer) ? null : answer.slice(0, 20));
        if (leak !== null) leaks.push(`${site.domain}: ${method} ${path}: ${leak}`);
      }
    }
    const open = await send(portOf(daemon.site), path, { host: 'open.test' });
    expect(open.status, path).toBeLessThan(400);
  }
  expect(leaks).toEqual([]);
});

it('a redirect to the identity provider contains the configured address of the site as the return address, whatever the Host header is', async () => {
  const evil = [
    'Accept: text/html',
    'X-Forwarded-Host: evil.test',
    'Forwarded: host=evil.test',
    'X-Forwarded-Proto: ftp',
  ];
  for (const host of ['oidc.test', 'OIDC.test:99', 'oidc.test.']) {
    const target = () => '//evil.test/%0d%0aSet-Cookie:%20a=b';
    const answer = await sendText(textOf({ name: '', target, headers: evil, host: () => host }, SITES[3]));
    const location = /^Location: (.+)$/im.exec(answer)?.[1] ?? '';
    const url = new URL(location);
    expect(url.origin).toBe(provider.issuer);
    expect(url.searchParams.get('redirect_uri')).toBe('http://oidc.test:8080/_docshelf/sign-in/callback');
    expect(answer).not.toContain('evil.test');
    expect(answer.match(/^set-cookie:/gim)).toHaveLength(1);
  }
});
