import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import { DocshelfError } from '../domain/errors.ts';

/** Matches the error codes of Node for an invalid server certificate. */
export const CERTIFICATE_FAULT = /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|INVALID_CA|HOSTNAME_MISMATCH/;

/** Reads a file and checks that it contains a PEM certificate. @throws DocshelfError `cannot_read`, `config_invalid` */
export function readCertificates(file: string, setting: string): string {
  let pem: string;
  try {
    pem = readFileSync(file, 'utf8');
  } catch (error) {
    throw new DocshelfError('cannot_read', `Cannot read "${file}": ${(error as Error).message}`, {
      next: `Correct ${setting}, or make the file readable for the user that docshelf runs as.`,
      cause: error,
    });
  }
  // Reject a file without certificates. Node would ignore the file, and each connection would then fail for an unclear reason.
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw new DocshelfError('config_invalid', `Cannot use "${file}" as ${setting}: it contains no PEM certificate`, {
    next: 'Put the certificates of your certificate authority into the file, each with its BEGIN and END line.',
  });
}

export const authoritiesOf = (caFile: string | null, setting: string): { readonly ca?: string[] } =>
  caFile === null ? {} : { ca: [...getCACertificates('default'), readCertificates(caFile, setting)] };
