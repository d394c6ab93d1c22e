import { printableJson } from '../../domain/text.ts';
import { remoteAddressBehind } from './remote-address.ts';
import type { ServedRequest } from './served-request.ts';

interface AccessLogOptions {
  /** Given the fields of a JSON object, without its braces. */
  readonly write: (fields: () => string) => void;
  readonly trustedProxies: readonly string[];
}

/** Of what a client writes: an address may have 16 KiB. */
const TEXT_LENGTH_MAX = 1024;
/** JSON escapes these, or a terminal acts on them. */
const ESCAPED = /["\\\u0000-\u001f\u007f-\u009f\u0600-\u0605\u061c\u06dd-\u206f\ud800-\udfff\ufeff-\uffff]/;

/**
 * Lines by hand: through a general serializer one cost as much processor time as the rest of its request. What is the same
 * from one request to the next is put together once.
 */
export function accessLog({ write, trustedProxies }: AccessLogOptions): (served: ServedRequest) => void {
  const remoteAddress = remoteAddressBehind(trustedProxies);
  const [agentField, siteField, versionField] = [lastField('userAgent'), lastField('site'), lastField('version')];
  // Named one by one: gathering the rest in an object cost a third of the line.
  const fieldsOf = ({
    listener,
    site,
    version,
    method,
    path,
    status,
    bytes,
    durationMs,
    requestId,
    peer,
    forwardedFor,
    userAgent,
    referrer,
  }: ServedRequest): string => {
    const pathText = quoted(shortened(path));
    const methodText = quoted(method);
    // Addresses and ids hold nothing that would have to be escaped.
    return (
      `"event":"request","listener":"${listener}"${siteField(site)}${versionField(version)}` +
      `,"method":${methodText},"status":${status},"bytes":${bytes},"requestId":"${requestId}","path":${pathText}` +
      `,"durationMs":${decimal(durationMs)},"remoteAddress":"${remoteAddress(peer, forwardedFor)}"` +
      `${agentField(userAgent)}${field('referrer', referrerOf(referrer))}` +
      `,"msg":"${methodText.slice(1, -1)} ${pathText.slice(1, -1)} ${status}"`
    );
  };
  return (served) => write(() => fieldsOf(served));
}

/** As `field`: what was made last is kept. */
function lastField(name: string): (text: string | undefined) => string {
  let last: string | undefined;
  let made = '';
  return (text) => {
    if (text !== last) made = field(name, text);
    last = text;
    return made;
  };
}

/** To the microsecond: of whole numbers, which are written faster than fractions. */
function decimal(ms: number): string {
  const us = Math.round(ms * 1000);
  const fraction = us % 1000;
  return `${(us - fraction) / 1000}.${fraction < 10 ? '00' : fraction < 100 ? '0' : ''}${fraction}`;
}

function field(name: string, text: string | undefined): string {
  return text === undefined ? '' : `,"${name}":${quoted(shortened(text))}`;
}

function quoted(text: string): string {
  return ESCAPED.test(text) ? printableJson(JSON.stringify(text)) : `"${text}"`;
}

function shortened(text: string): string {
  return text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}…` : text;
}

/** Without query and user information, which may be credentials. */
function referrerOf(header: string | undefined): string | undefined {
  const end = header?.search(/[?#]/) ?? -1;
  return (end === -1 ? header : header?.slice(0, end))?.replace(/\/\/[^/]*@/, '//');
}
