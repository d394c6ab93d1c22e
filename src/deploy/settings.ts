import { hash } from 'node:crypto';
import type { ArchiveLimits } from '../domain/limits.ts';
import type { Secret } from '../domain/secret.ts';
import type { SignatureSettings } from './import/signature.ts';
import type { Wanted } from './plan.ts';

export interface RenewSettings {
  readonly apiUrl: string;
  readonly key: Secret;
  readonly domain: string | null;
  readonly jobId: string | null;
  readonly everyMs: number | null;
}

export interface DeploySettings {
  readonly enabled: boolean;
  readonly link: Secret | null;
  /** True if the bundle source is the newest completed export of this daemon instead of a link. */
  readonly fromExports: boolean;
  readonly version: string | null;
  readonly sha256: string | null;
  readonly minVersion: string | null;
  readonly signature: SignatureSettings;
  readonly preload: { readonly dir: string; readonly mayBeMissing: boolean };
  readonly keep: number;
  readonly domain: string | null;
  readonly limits: ArchiveLimits;
  readonly bundleBytesMax: number;
  readonly fetchRetriesMax: number;
  readonly renew: RenewSettings | null;
}

/**
 * @param exportsMade number of exports that this daemon has completed. Each export changes the fetch key, so that docshelf
 * fetches the new bundle
 */
export function wantedOf(settings: DeploySettings, exportsMade = 0): Wanted {
  const { enabled, link, fromExports, version, sha256, renew } = settings;
  const fetched = [link?.reveal() ?? null, version, sha256, ...serviceOf(renew)];
  if (fromExports) fetched.push(`exports ${exportsMade}`);
  return {
    enabled,
    pin: version,
    hasLink: fromExports || link !== null || renew !== null,
    sha256,
    fingerprint: fingerprintOf(settings),
    fetchKey: hash('sha256', JSON.stringify(fetched)),
    exportsAnew: enabled && renew !== null && renew.everyMs !== null,
  };
}

/**
 * Hash of the settings that select a release. If the hash changes, docshelf may replace a release that an operator activated.
 * One-way, because the link is a credential.
 */
function fingerprintOf(settings: DeploySettings): string {
  const { enabled, link, fromExports, version, sha256, preload, keep, renew } = settings;
  // Omit the default preload folder. Its path changes when the config changes to a list of sites, but this change must not end
  // the operator's choice of a release.
  const folder = preload.mayBeMissing ? null : preload.dir;
  const words = [enabled, link?.reveal() ?? null, version, sha256, folder, keep, ...serviceOf(renew)];
  if (fromExports) words.push('exports');
  return hash('sha256', JSON.stringify(words));
}

/** Fields that identify the export service. Omits the export interval and the admin key, which do not select an export. */
export function serviceOf(renew: RenewSettings | null): (string | null)[] {
  return renew === null ? [] : [renew.apiUrl, renew.domain, renew.jobId];
}

export const linkDigestOf = (link: Secret): string => hash('sha256', link.reveal());
