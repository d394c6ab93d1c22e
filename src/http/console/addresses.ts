import type { ConsoleVisit } from './visit.ts';

/** Of the console's pages, below its root. */

export const siteAddress = (domain: string | null): string => `sites/${encodeURIComponent(domain ?? '')}`;

export const jobAddress = (jobId: string): string => `jobs/${encodeURIComponent(jobId)}`;

export const keysAddress = (organization: string): string => `organizations/${encodeURIComponent(organization)}/keys`;

/** Of the form that leads back to this page. */
export function signInAddress({ c }: ConsoleVisit): string {
  const to = c.req.path.slice(1);
  return to === '' ? 'sign-in' : `sign-in?to=${encodeURIComponent(to)}`;
}
