import { createHash } from 'node:crypto';
import type { ArchiveLimits } from '../domain/limits.ts';
import type { Secret } from '../domain/secret.ts';
import type { Wish } from './plan.ts';

/** How old a partial download may be to be resumed, in milliseconds (design: "at most 24 h"). */
export const PART_AGE_MS_MAX = 24 * 3600_000;

/** The deploy room's slice of the config. */
export interface DeploySettings {
  readonly enabled: boolean;
  readonly link: Secret | null;
  readonly version: string | null;
  readonly sha256: string | null;
  readonly preload: { readonly dir: string; readonly mayBeMissing: boolean };
  readonly keep: number;
  readonly domain: string | null;
  readonly limits: ArchiveLimits;
  readonly bundleBytesMax: number;
  readonly fetchRetriesMax: number;
}

export function wishOf(settings: DeploySettings): Wish {
  const { enabled, link, version, sha256 } = settings;
  return { enabled, pin: version, hasLink: link !== null, sha256, fingerprint: fingerprintOf(settings) };
}

/** Of the `staticExport` settings: what an operator's choice of a version holds against. One-way, since the link is a credential. */
function fingerprintOf({ enabled, link, version, sha256, preload, keep }: DeploySettings): string {
  const words = [enabled, link?.reveal() ?? null, version, sha256, preload.dir, keep];
  return createHash('sha256').update(JSON.stringify(words)).digest('hex');
}

/** One-way name of what a fetch is for: the link, and the pin and the digest that it is asked to meet. */
export function fetchKeyOf({ link, version, sha256 }: DeploySettings): string {
  const words = [link?.reveal() ?? null, version, sha256];
  return createHash('sha256').update(JSON.stringify(words)).digest('hex');
}

/** One-way name of a link, whole: tells whether the configured link is the one that a version was fetched from. */
export function linkDigestOf(link: Secret): string {
  return createHash('sha256').update(link.reveal()).digest('hex');
}
