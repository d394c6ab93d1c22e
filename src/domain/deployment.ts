/** The three types of deployment, contract section 2. */
export const DEPLOYMENT_TYPES = ['cloud', 'client-hosted', 'air-gapped'] as const;
export type DeploymentType = (typeof DEPLOYMENT_TYPES)[number];

export const DEFAULT_DOMAIN = 'docs';

/** One DNS label (RFC 1035, section 2.3.1; digits first per RFC 1123). */
export const DOMAIN_PATTERN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
