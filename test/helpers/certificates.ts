import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** Certificate and key as PEM. */
export interface TestPair {
  readonly cert: string;
  readonly key: string;
}

interface Wanted {
  /** Names and IPv4 addresses. The first one is also the common name. */
  readonly names: readonly string[];
  readonly notAfter?: Date;
}

const DAY_MS = 86_400_000;

/** Smallest self-signed certificate (RFC 5280) that clients accept, with a new P-256 key. */
export function makeCertificate({ names, notAfter }: Wanted): TestPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const [common = ''] = names;
  const extensions = [
    extension([2, 5, 29, 17], sequence(...names.map(generalName))),
    extension([2, 5, 29, 19], sequence()),
  ];
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ECDSA_SHA256,
    distinguishedName(common),
    sequence(time(new Date(Date.now() - DAY_MS)), time(notAfter ?? new Date(Date.now() + 90 * DAY_MS))),
    distinguishedName(common),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const whole = sequence(body, ECDSA_SHA256, bits(sign('sha256', body, privateKey)));
  return { cert: pem(whole), key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

function pem(whole: Buffer): string {
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const integer = (value: Buffer): Buffer => der(0x02, value);
const bits = (value: Buffer): Buffer => der(0x03, Buffer.from([0]), value);

function oid([first = 0, second = 0, ...rest]: readonly number[]): Buffer {
  const tail = rest.flatMap((arc) => {
    const septets = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) septets.unshift((left & 0x7f) | 0x80);
    return septets;
  });
  return der(0x06, Buffer.from([first * 40 + second, ...tail]));
}

const ECDSA_SHA256 = sequence(oid([1, 2, 840, 10045, 4, 3, 2]));

function distinguishedName(common: string): Buffer {
  return sequence(der(0x31, sequence(oid([2, 5, 4, 3]), der(0x0c, Buffer.from(common)))));
}

/** UTCTime, with two digits for the year. */
function time(at: Date): Buffer {
  return der(0x17, Buffer.from(`${at.toISOString().replace(/\D/g, '').slice(2, 14)}Z`));
}

function generalName(name: string): Buffer {
  return isIPv4(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name));
}

function extension(id: readonly number[], value: Buffer): Buffer {
  return sequence(oid(id), der(0x04, value));
}
