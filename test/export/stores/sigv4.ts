import { createHmac, hash } from 'node:crypto';

/**
 * Independent check of presigned links, written only from Amazon's description of Signature Version 4 in a query
 * ("Authenticating Requests: Using Query Parameters"): canonical request, string to sign, chain of keys.
 */
export function checkPresigned(
  method: string,
  link: string,
  secretAccessKey: string,
  nowMs: number,
): 'valid' | 'expired' | 'wrong signature' | 'malformed' {
  const url = new URL(link);
  const query = rawQuery(url.search);
  const signature = query.find(([name]) => name === 'X-Amz-Signature')?.[1];
  const value = (name: string): string => decodeURIComponent(query.find(([each]) => each === name)?.[1] ?? '');
  const date = value('X-Amz-Date');
  const [, day, region, service, end] = value('X-Amz-Credential').split('/');
  const isWhole =
    value('X-Amz-Algorithm') === 'AWS4-HMAC-SHA256' &&
    /^\d{8}T\d{6}Z$/.test(date) &&
    day === date.slice(0, 8) &&
    service === 's3' &&
    end === 'aws4_request' &&
    value('X-Amz-SignedHeaders') === 'host' &&
    /^[1-9]\d*$/.test(value('X-Amz-Expires')) &&
    Number(value('X-Amz-Expires')) <= 604_800;
  if (!isWhole || region === undefined) return 'malformed';

  const canonicalQuery = query
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, text]) => [uriEncode(decodeURIComponent(name)), uriEncode(decodeURIComponent(text))] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&');
  // Only S3 encodes a path once and does not normalize it.
  const canonicalPath = url.pathname
    .split('/')
    .map((segment) => uriEncode(decodeURIComponent(segment)))
    .join('/');
  const headers = `host:${url.host}\n`;
  const canonical = [method, canonicalPath, canonicalQuery, headers, 'host', 'UNSIGNED-PAYLOAD'].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', date, scope, hash('sha256', canonical)].join('\n');
  const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
  const signingKey = [region, 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${secretAccessKey}`, day as string));
  if (hmac(signingKey, toSign).toString('hex') !== signature) return 'wrong signature';

  const iso = date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  return Date.parse(iso) + Number(value('X-Amz-Expires')) * 1000 > nowMs ? 'valid' : 'expired';
}

/** Undecoded names and values: `+` is a plus, not a space. */
function rawQuery(search: string): [name: string, value: string][] {
  return search
    .slice(1)
    .split('&')
    .map((pair) => {
      const at = pair.indexOf('=');
      return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    });
}

/** Encodes all bytes except the unreserved ones of RFC 3986, with upper-case digits. */
function uriEncode(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9._~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}
