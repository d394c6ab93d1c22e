import type { DeploymentType } from '../../src/domain/deployment.ts';
import { FEATURES, type FeatureReport, type FeatureWishes, reportFeatures } from '../../src/domain/feature.ts';

/** Settings of features in a config: null for each feature that is not named. */
export function wishesOf(named: Partial<FeatureWishes> = {}): FeatureWishes {
  return { ...(Object.fromEntries(FEATURES.map(({ id }) => [id, null])) as FeatureWishes), ...named };
}

/** Feature report of a site whose config enables serving and names no other feature. */
export function featuresOf(
  domain = 'acme',
  type: DeploymentType = 'client-hosted',
  named: Partial<FeatureWishes> = {},
): FeatureReport {
  return reportFeatures(type, domain, wishesOf({ staticExport: true, localSearch: true, ...named }));
}
