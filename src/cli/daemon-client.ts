import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import { hostname } from 'node:os';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { getCACertificates } from 'node:tls';
import type { Config } from '../config/index.ts';
import { type DaemonMark, runningDaemons } from '../deploy/daemons.ts';
import { dataPaths, folderName, identityOf } from '../deploy/releases/data-folder.ts';
import { bareHost } from '../domain/egress.ts';
import { DocshelfError, ERROR_CODES, type ErrorCode, errnoOf, type Problem, rethrowAs } from '../domain/errors.ts';
import type { Operation } from '../domain/operation.ts';
import type { StatusReport } from '../domain/status.ts';
import { ifThere } from '../files/index.ts';
import { FOLDER_HEADER, operations, sitePath } from '../http/admin/operations.ts';
import { CERTIFICATE_FAULT, readCertificates } from '../net/certificates.ts';
import { requestDaemon } from '../net/daemon-request.ts';
import type { DaemonChoice } from './command.ts';
import type { ChosenSite } from './load-config.ts';
import type { CommandTarget } from './output.ts';

export type ArchiveInput = { readonly file: string } | { readonly stream: AsyncIterable<Uint8Array> };

interface Call {
  readonly parameters?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | null | undefined>>;
  readonly body?: ArchiveInput | string;
}

export interface DaemonClient {
  readonly name: string;
  call(operation: Pick<Operation, 'method' | 'path'>, call?: Call): Promise<unknown>;
}

/** Finds the daemon that must perform an action, because a command may not change the folder of a running daemon. */
export async function findDaemon(site: ChosenSite, options: DaemonChoice): Promise<DaemonClient | null> {
  const { config, domain } = site;
  const [daemon] = await findDaemons(config, options, domain);
  return daemon === undefined || domain === null ? (daemon ?? null) : forSite(daemon, domain);
}

export function commandTarget(
  daemon: DaemonClient | null,
  { config }: ChosenSite,
  { adminUrl }: DaemonChoice,
): CommandTarget {
  return { folder: adminUrl === undefined ? config.storage.dir : null, daemon: daemon?.name ?? null };
}

function forSite({ name, call }: DaemonClient, domain: string): DaemonClient {
  return {
    name,
    call: ({ method, path }, { parameters, ...rest } = {}) =>
      call({ method, path: sitePath(path) }, { ...rest, parameters: { ...parameters, domain } }),
  };
}

/** @throws DocshelfError `daemon_unreachable` if daemons run only on other hosts, or no daemon has the process id of `--pid` */
export async function findDaemons(
  config: Config,
  options: DaemonChoice,
  domain: string | null = null,
): Promise<readonly DaemonClient[]> {
  if (options.adminUrl !== undefined) return [overNetwork(options.adminUrl, config, authorities(config))];
  const { here, otherHost } = await runningMarks(config);
  const meant = here.filter(({ owner }) => options.pid === undefined || owner.pid === options.pid);
  if (options.pid !== undefined && meant.length === 0) {
    const running = here.map(({ owner }) => owner.pid).join(', ');
    const state = `Cannot reach the daemon ${options.pid}: no daemon with this process id runs on this machine and data folder`;
    throw new DocshelfError('daemon_unreachable', state, {
      next:
        running === '' ? 'Omit --pid.' : `Pass --pid with the process id of a daemon on this data folder: ${running}.`,
    });
  }
  if (here.length === 0 && otherHost !== null) {
    const state = `Cannot use "${config.storage.dir}": a daemon on the host "${otherHost}" uses this folder`;
    throw new DocshelfError('daemon_unreachable', state, {
      next: 'Run the command on that host, or pass the URL of its admin listener with --admin-url, and set DOCSHELF__ADMIN__TOKEN to the token of that listener.',
    });
  }
  const hasSite = (mark: DaemonMark): number => (mark.sites.some((site) => site.domain === domain) ? 1 : 0);
  const clients = meant.toSorted((a, b) => hasSite(b) - hasSite(a)).map((mark) => clientOf(mark, config));
  return Promise.all(clients);
}

/** Status of the site's daemon, else of the first daemon. Null if the options name no daemon and no daemon responds. */
export async function daemonStatus(
  config: Config,
  options: DaemonChoice,
  domain: string | null = null,
): Promise<StatusReport | null> {
  const hasChosen = options.adminUrl !== undefined || options.pid !== undefined;
  const asked = findDaemons(config, options, domain).then(([daemon]) => daemon?.call(operations.status) ?? null);
  return (await (hasChosen ? asked : asked.catch(() => null))) as StatusReport | null;
}

/** Heartbeat files of daemons on this host that use the data folder, and the name of another host with such a daemon. */
export async function runningMarks(config: Config) {
  const marks = (await ifThere(runningDaemons(dataPaths(config.storage.dir)))) ?? [];
  const isHere = ({ owner }: DaemonMark): boolean => owner.host === hostname();
  return { here: marks.filter(isHere), otherHost: marks.find((mark) => !isHere(mark))?.owner.host ?? null };
}

async function clientOf({ owner, socket, adminUrl }: DaemonMark, config: Config): Promise<DaemonClient> {
  const { dir } = config.storage;
  if (socket !== null) {
    const folder = await identityOf(dataPaths(dir));
    const headers = folder === null ? {} : { [FOLDER_HEADER]: folderName(folder) };
    return clientOver(`the daemon ${owner.pid} on "${dir}"`, { socketPath: socket }, headers);
  }
  // Trust only the configured certificates. Skip the check of the host name, because certificates can lack the loopback address.
  const own = { ca: ownCertificates(config), allowPartialTrustChain: true, checkServerIdentity: () => undefined };
  return overNetwork(adminUrl ?? 'http://127.0.0.1:0', config, own);
}

/** Certificates to trust for `--admin-url`: Node's, `network.caFile`, and those of `admin.tls`, which can be self-signed. */
function authorities(config: Config): RequestOptions {
  const { caFile } = config.network;
  const further = caFile === null ? [] : [readCertificates(caFile, 'network.caFile')];
  const ca = [...getCACertificates('default'), ...further, ...ownCertificates(config)];
  return { ca, allowPartialTrustChain: true };
}

const ownCertificates = ({ admin: { tls } }: Config): string[] =>
  [tls, ...tls.certificates].flatMap(({ certFile }) => certFile?.text.reveal() ?? []);

function overNetwork(adminUrl: string, { admin: { token } }: Config, trust: RequestOptions): DaemonClient {
  const url = URL.canParse(adminUrl) ? new URL(adminUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new DocshelfError('usage', `Cannot reach "${adminUrl}": it is not an http or https URL`, {
      next: 'Pass the URL of the admin listener, such as --admin-url http://127.0.0.1:9090.',
    });
  }
  const { protocol, hostname: host, port } = url;
  const target = { ...(protocol === 'https:' ? trust : {}), protocol, host: bareHost(host), port };
  const headers = token === null ? {} : { authorization: `Bearer ${token.reveal()}` };
  return clientOver(`the daemon at ${url.origin}`, target, headers);
}

export function clientOver(
  name: string,
  target: RequestOptions,
  ownHeaders: Readonly<Record<string, string>>,
): DaemonClient {
  return {
    name,
    call: async ({ method, path }, { parameters = {}, query = {}, body } = {}) => {
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, word: string) => encodeURIComponent(parameters[word] ?? ''));
      const given = Object.entries(query).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
      const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
      const headers = { ...ownHeaders, ...(body === undefined ? {} : await bodyHeaders(body)) };
      const request = requestDaemon({ ...target, method, path: filled + search, headers });
      const response = await exchange(request, body).catch(
        rethrowAs(
          'daemon_unreachable',
          `reach ${name}`,
          target.socketPath === undefined
            ? 'Check the URL and the network. If your own certificate authority signed the certificate, set network.caFile.'
            : 'Run "docshelf healthcheck" to check the daemon, then run the command again.',
          connectionState,
        ),
      );
      const { statusCode = 500 } = response;
      const answer = statusCode === 204 ? null : await json(response).catch(() => ({}));
      // Close the request, which stays open if the daemon responded before the whole body was sent.
      request.destroy();
      if (statusCode < 300) return answer;
      const { code, error, next } = answer as Partial<Pick<Problem, 'code' | 'error' | 'next'>>;
      if (typeof error === 'string' && ERROR_CODES.some((known) => known === code))
        throw new DocshelfError(code as ErrorCode, error, { next });
      const state = `Cannot use ${name}: the response (status ${statusCode}) is not from docshelf`;
      const where = 'Check the address. Another program or a proxy may use this address.';
      throw new DocshelfError('daemon_unreachable', state, { next: where });
    },
  };
}

function connectionState(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (CERTIFICATE_FAULT.test(code)) return `docshelf does not trust the certificate of the daemon (${message})`;
  return errnoOf(error) ?? 'it closed the connection';
}

async function exchange(request: ClientRequest, body: Call['body']): Promise<IncomingMessage> {
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  // Ignore errors that come after the response. For an error before the response, `once` rejects.
  request.on('error', () => undefined);
  if (body === undefined) request.end();
  else {
    // Send the body only after `100 Continue`, so that a response that rejects the request early is not lost.
    const source = typeof body === 'string' ? [body] : 'file' in body ? createReadStream(body.file) : body.stream;
    request.once('continue', () => {
      pipeline(Readable.from(source), request).catch((error: Error) => request.destroy(error));
    });
    request.flushHeaders();
  }
  try {
    return (await answered)[0];
  } finally {
    request.removeAllListeners('continue');
  }
}

async function bodyHeaders(body: NonNullable<Call['body']>): Promise<Record<string, string>> {
  const length =
    typeof body === 'string' ? Buffer.byteLength(body) : 'file' in body ? (await stat(body.file)).size : null;
  return {
    expect: '100-continue',
    'content-type': 'application/octet-stream',
    ...(length === null ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(length) }),
  };
}
