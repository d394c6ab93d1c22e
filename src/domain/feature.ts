import type { DeploymentType } from './deployment.ts';

export type FeatureSupport = 'available' | 'configurable' | 'unavailable';

/**
 * Id, name, key, and support in a cloud, client-hosted and air-gapped deployment. The first five rows are the published
 * contract, and must not change.
 */
const ROWS = [
  ['search', 'Documentation search', 'features.search', 'available', 'configurable', 'unavailable'],
  ['assistant', 'AI assistant', 'features.assistant', 'available', 'configurable', 'unavailable'],
  ['analytics', 'Web analytics', 'features.analytics', 'available', 'configurable', 'unavailable'],
  ['apiPlayground', 'API playground ("Try it")', 'features.apiPlayground', 'available', 'available', 'configurable'],
  ['staticExport', 'Static export bundle', 'staticExport.enabled', 'available', 'available', 'available'],
  ['localSearch', 'Local search', 'search.enabled', 'configurable', 'configurable', 'configurable'],
] as const;

export type FeatureId = (typeof ROWS)[number][0];
export type SwitchedFeatureId = Extract<
  (typeof ROWS)[number],
  readonly [string, string, `features.${string}`, ...unknown[]]
>[0];

interface Feature extends Readonly<Record<DeploymentType, FeatureSupport>> {
  readonly id: FeatureId;
  readonly name: string;
  /** Config key that switches the feature. The key `features.<id>` is short for `features.<id>.enabled`. */
  readonly key: (typeof ROWS)[number][2];
}

export const FEATURES: readonly Feature[] = ROWS.map(([id, name, key, cloud, clientHosted, airGapped]) => {
  return { id, name, key, cloud, 'client-hosted': clientHosted, 'air-gapped': airGapped };
});

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

function stateOf(feature: Feature, type: DeploymentType, wish: boolean | null): FeatureState {
  const { id, name, key, [type]: support } = feature;
  const state = (enabled: boolean, reason: string): FeatureState => ({ id, name, support, enabled, reason });
  if (support === 'unavailable') {
    const because = `it needs a cloud service, and ${type === 'air-gapped' ? 'an air-gapped' : `a ${type}`} deployment has no outbound network`;
    return state(
      false,
      wish === true ? `Overruled: ${key} turns the feature on, but ${because}.` : `Unavailable: ${because}.`,
    );
  }
  if (wish !== null) return state(wish, `Turned ${wish ? 'on' : 'off'} by ${key}.`);
  return support === 'available'
    ? state(true, `On by default with deployment.type ${type}.`)
    : state(false, `Off by default with deployment.type ${type}. If your environment supports it, set ${key} to true.`);
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
