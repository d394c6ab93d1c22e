import { remoteAddressBehind } from './remote-address.ts';
import type { ServedRequest } from './served-request.ts';

interface AccessLogOptions {
  /** Given the fields of a JSON object, without its braces. */
  readonly write: (fields: string) => void;
  readonly trustedProxies: readonly string[];
}

/** Of what a client writes: an address may have 16 KiB. */
const TEXT_LENGTH_MAX = 1024;
/** What stands in JSON otherwise than as itself. */
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Lines by hand: through a general serializer one cost as much processor time as the rest of its request. */
export function accessLog({ write, trustedProxies }: AccessLogOptions): (served: ServedRequest) => void {
  const remoteAddress = remoteAddressBehind(trustedProxies);
  return ({ listener, site, version, method, status, bytes, requestId, ...served }) => {
    const path = shortened(served.path);
    const durationMs = Math.round(served.durationMs * 1000) / 1000;
    const address = remoteAddress(served.peer, served.forwardedFor);
    write(
      `"event":"request","listener":"${listener}"${field('site', site)}${field('version', version)}` +
        `,"method":${quoted(method)},"status":${status},"bytes":${bytes},"requestId":${quoted(requestId)}` +
        `,"path":${quoted(path)},"durationMs":${durationMs},"remoteAddress":${quoted(address)}` +
        `${field('userAgent', served.userAgent)}${field('referrer', referrerOf(served.referrer))}` +
        `,"msg":${quoted(`${method} ${path} ${status}`)}`,
    );
  };
}

function field(name: string, text: string | undefined): string {
  return text === undefined ? '' : `,"${name}":${quoted(shortened(text))}`;
}

function quoted(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`;
}

function shortened(text: string): string {
  return text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}…` : text;
}

/** Without query and user information, which may be credentials. */
function referrerOf(header: string | undefined): string | undefined {
  const end = header?.search(/[?#]/) ?? -1;
  return (end === -1 ? header : header?.slice(0, end))?.replace(/\/\/[^/]*@/, '//');
}
