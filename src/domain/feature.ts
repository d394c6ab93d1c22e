import type { DeploymentType } from './deployment.ts';

/** The feature table of contract section 4, and what holds of it in one deployment. */

export const FEATURE_IDS = [
  'search',
  'assistant',
  'analytics',
  'apiPlayground',
  'staticExport',
  'localSearch',
] as const;
export type FeatureId = (typeof FEATURE_IDS)[number];
export type FeatureSupport = 'available' | 'configurable' | 'unavailable';

interface FeatureRow {
  readonly name: string;
  readonly support: Readonly<Record<DeploymentType, FeatureSupport>>;
}

const row = (
  name: string,
  cloud: FeatureSupport,
  clientHosted: FeatureSupport,
  airGapped: FeatureSupport,
): FeatureRow => ({ name, support: { cloud, 'client-hosted': clientHosted, 'air-gapped': airGapped } });

/** Support by type of deployment. The first five rows are the published contract and are never bent. */
export const FEATURE_TABLE: Readonly<Record<FeatureId, FeatureRow>> = Object.freeze({
  search: row('Documentation search', 'available', 'configurable', 'unavailable'),
  assistant: row('AI assistant', 'available', 'configurable', 'unavailable'),
  analytics: row('Web analytics', 'available', 'configurable', 'unavailable'),
  apiPlayground: row('API playground ("Try it")', 'available', 'available', 'configurable'),
  staticExport: row('Static export bundle', 'available', 'available', 'available'),
  localSearch: row('Local search', 'configurable', 'configurable', 'configurable'),
});

/** Setting of each feature in the config; null where there is none. */
export type FeatureWishes = Readonly<Record<FeatureId, boolean | null>>;

export interface FeatureState {
  readonly id: FeatureId;
  readonly name: string;
  readonly support: FeatureSupport;
  /** What holds here and now. */
  readonly enabled: boolean;
  /** Why, one sentence. */
  readonly reason: string;
}

export interface FeatureReport {
  readonly deploymentType: DeploymentType;
  readonly domain: string;
  readonly features: readonly FeatureState[];
}

/** The config key that turns a feature on or off. */
const KEY: Readonly<Record<FeatureId, string>> = {
  search: 'features.search',
  assistant: 'features.assistant',
  analytics: 'features.analytics',
  apiPlayground: 'features.apiPlayground',
  staticExport: 'staticExport.enabled',
  localSearch: 'search.enabled',
};

function stateOf(id: FeatureId, type: DeploymentType, wish: boolean | null): FeatureState {
  const { name, support: bySupport } = FEATURE_TABLE[id];
  const support = bySupport[type];
  const base = { id, name, support };
  if (support === 'unavailable') {
    const because = `it relies on the service's cloud, and ${type === 'air-gapped' ? 'an air-gapped' : `a ${type}`} deployment has no outbound network`;
    return wish === true
      ? { ...base, enabled: false, reason: `Overruled: ${KEY[id]} asks for it, but ${because}.` }
      : { ...base, enabled: false, reason: `Unavailable: ${because}.` };
  }
  if (wish !== null) {
    return { ...base, enabled: wish, reason: `Turned ${wish ? 'on' : 'off'} by ${KEY[id]}.` };
  }
  if (support === 'available') {
    return { ...base, enabled: true, reason: `Available in a ${type} deployment, on by default.` };
  }
  return {
    ...base,
    enabled: false,
    reason: `Depends on the environment's set-up: set ${KEY[id]} to true to turn it on.`,
  };
}

/**
 * The feature report of contract section 4, in the table's order.
 *
 * `staticExport` and `localSearch` have defaults of their own, so their wishes are never null: the caller passes
 * what the config resolved to.
 */
export function reportFeatures(type: DeploymentType, domain: string, wishes: FeatureWishes): FeatureReport {
  return {
    deploymentType: type,
    domain,
    features: FEATURE_IDS.map((id) => stateOf(id, type, wishes[id])),
  };
}
