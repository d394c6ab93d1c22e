import type { DeploymentType } from './deployment.ts';

export type FeatureSupport = 'available' | 'configurable' | 'unavailable';

interface FeatureRow extends Readonly<Record<DeploymentType, FeatureSupport>> {
  readonly id: string;
  readonly name: string;
  /** Config key that switches the feature. The key `features.<id>` is short for `features.<id>.enabled`. */
  readonly key: `features.${string}` | `${string}.enabled`;
}

/** Support by deployment type. The first five rows are the published contract, and must not change. */
export const FEATURES = Object.freeze([
  {
    id: 'search',
    name: 'Documentation search',
    key: 'features.search',
    cloud: 'available',
    'client-hosted': 'configurable',
    'air-gapped': 'unavailable',
  },
  {
    id: 'assistant',
    name: 'AI assistant',
    key: 'features.assistant',
    cloud: 'available',
    'client-hosted': 'configurable',
    'air-gapped': 'unavailable',
  },
  {
    id: 'analytics',
    name: 'Web analytics',
    key: 'features.analytics',
    cloud: 'available',
    'client-hosted': 'configurable',
    'air-gapped': 'unavailable',
  },
  {
    id: 'apiPlayground',
    name: 'API playground ("Try it")',
    key: 'features.apiPlayground',
    cloud: 'available',
    'client-hosted': 'available',
    'air-gapped': 'configurable',
  },
  {
    id: 'staticExport',
    name: 'Static export bundle',
    key: 'staticExport.enabled',
    cloud: 'available',
    'client-hosted': 'available',
    'air-gapped': 'available',
  },
  {
    id: 'localSearch',
    name: 'Local search',
    key: 'search.enabled',
    cloud: 'configurable',
    'client-hosted': 'configurable',
    'air-gapped': 'configurable',
  },
] as const satisfies readonly FeatureRow[]);

export type FeatureId = (typeof FEATURES)[number]['id'];
export type SwitchedFeatureId = Extract<(typeof FEATURES)[number], { readonly key: `features.${string}` }>['id'];

interface FeatureState {
  readonly id: FeatureId;
  readonly name: string;
  readonly support: FeatureSupport;
  readonly enabled: boolean;
  readonly reason: string;
}

export interface FeatureReport {
  readonly deploymentType: DeploymentType;
  readonly domain: string;
  readonly features: readonly FeatureState[];
}

/** With several sites, `domain` is null, `features` is empty, and `sites` has the features of each site. */
export interface DaemonFeatures extends Omit<FeatureReport, 'domain'> {
  readonly domain: string | null;
  readonly sites?: readonly Pick<FeatureReport, 'domain' | 'features'>[];
}

function stateOf(feature: (typeof FEATURES)[number], type: DeploymentType, wish: boolean | null): FeatureState {
  const { id, name, key, [type]: support } = feature;
  const state = (enabled: boolean, reason: string): FeatureState => ({ id, name, support, enabled, reason });
  if (support === 'unavailable') {
    const because = `it needs a cloud service, and ${type === 'air-gapped' ? 'an air-gapped' : `a ${type}`} deployment has no outbound network`;
    return state(false, wish === true ? `Overruled: ${key} turns it on, but ${because}.` : `Unavailable: ${because}.`);
  }
  if (wish !== null) return state(wish, `Turned ${wish ? 'on' : 'off'} by ${key}.`);
  return support === 'available'
    ? state(true, `On by default in a ${type} deployment.`)
    : state(false, `Off by default in a ${type} deployment. If your environment supports it, set ${key} to true.`);
}

export type FeatureWishes = Readonly<Record<FeatureId, boolean | null>>;

export function reportFeatures(type: DeploymentType, domain: string, wishes: FeatureWishes): FeatureReport {
  return {
    deploymentType: type,
    domain,
    features: FEATURES.map((feature) => stateOf(feature, type, wishes[feature.id])),
  };
}

export function joinFeatures(type: DeploymentType, reports: readonly FeatureReport[]): DaemonFeatures {
  const sites = reports.map(({ domain, features }) => ({ domain, features }));
  const [only, second] = reports;
  if (only !== undefined && second === undefined) return { ...only, sites };
  return { deploymentType: type, domain: null, features: [], sites };
}
