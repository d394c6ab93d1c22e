import { X509Certificate } from 'node:crypto';
import type { Config } from '../config/index.ts';
import { bareHost } from '../domain/egress.ts';
import { LISTENERS } from '../http/listener/served-request.ts';
import { isCertifiedFor, type KeyPair, type TlsSettings } from '../http/tls/tls-port.ts';

type TlsConfig = Config['server']['tls'];
/**
 * Certificates and TLS settings of a listener, or null for plain HTTP. The config check ensures that each key matches its
 * certificate.
 */
export function tlsSlice(tls: TlsConfig): TlsSettings | null {
  const pairs = [tls, ...tls.certificates].flatMap(pairOf);
  return pairs.length === 0 ? null : { pairs, http2: tls.http2, hstsMs: tls.hstsMs };
}

const pairOf = ({ certFile, keyFile }: TlsConfig['certificates'][number]): KeyPair[] =>
  certFile === null || keyFile === null ? [] : [{ chain: certFile.text.reveal(), key: keyFile.text }];

export function presentedCertificates(config: Config) {
  return Object.values(LISTENERS).flatMap(({ section }) => {
    const { tls } = config[section];
    return [tls, ...tls.certificates].flatMap(({ certFile }, index) => {
      if (certFile === null) return [];
      const certificate = new X509Certificate(certFile.text.reveal());
      const setting = `${section}.tls${index === 0 ? '' : `.certificates[${index - 1}]`}.certFile`;
      return [{ setting, file: certFile.path, certificate, endsAtMs: Date.parse(certificate.validTo) }];
    });
  });
}

export const DAY_MS = 86_400_000;
/** Time before the end of a certificate at which docshelf warns. Automatic renewal happens 30 days before the end. */
export const SOON_MS = 21 * DAY_MS;

type CertificateFinding = { readonly setting: string; readonly message: string; readonly next: string };

const RENEW = 'Replace the file with a new certificate. docshelf uses it without a restart.';

/** Finds certificates that clients reject now or soon, and host names of sites that no certificate covers. */
export function certificateFindings(config: Config, nowMs: number): CertificateFinding[] {
  const presented = presentedCertificates(config);
  const found = presented.flatMap(({ setting, file, certificate, endsAtMs }): CertificateFinding[] => {
    const beginsAtMs = Date.parse(certificate.validFrom);
    const state =
      beginsAtMs > nowMs
        ? `is not valid before ${dayOf(beginsAtMs)}, so that clients reject it`
        : endsAtMs <= nowMs
          ? `expired on ${dayOf(endsAtMs)}, so that clients reject it`
          : endsAtMs - nowMs < SOON_MS
            ? `expires on ${dayOf(endsAtMs)}`
            : null;
    return state === null ? [] : [{ setting, message: `The certificate "${file}" ${state}.`, next: RENEW }];
  });
  const ofSite = presented.filter(({ setting }) => setting.startsWith('server.'));
  if (ofSite.length === 0) return found;
  const unnamed = siteNames(config).filter(
    ([, host]) => !ofSite.some(({ certificate }) => isCertifiedFor(certificate, host)),
  );
  const next = 'Add a certificate for this host to server.tls.certificates.';
  return [
    ...found,
    ...unnamed.map(([setting, host]) => ({
      setting,
      message: `No certificate in server.tls names the host "${host}".`,
      next,
    })),
  ];
}

function siteNames({ sites, server: { publicUrl } }: Config): (readonly [setting: string, host: string])[] {
  const hosts = sites.flatMap((site, at) => site.hosts.map((host) => [`sites[${at}].hosts`, bareHost(host)] as const));
  return publicUrl === null ? hosts : [['server.publicUrl', bareHost(new URL(publicUrl).hostname)], ...hosts];
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export const certificateNotices = (config: Config, nowMs: number): string[] =>
  certificateFindings(config, nowMs).map(({ message, next }) => `${message} ${next}`);
