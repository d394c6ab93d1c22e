import type { DeploymentType } from '../../src/domain/deployment.ts';
import { FEATURES, type FeatureReport, type FeatureWishes, reportFeatures } from '../../src/domain/feature.ts';

/** The wishes of a config: null for each feature that is not named. */
export function wishesOf(named: Partial<FeatureWishes> = {}): FeatureWishes {
  return { ...(Object.fromEntries(FEATURES.map(({ id }) => [id, null])) as FeatureWishes), ...named };
}

/** The report of a site whose config turns on what serves it, and names no other feature. */
export function featuresOf(
  domain = 'acme',
  type: DeploymentType = 'client-hosted',
  named: Partial<FeatureWishes> = {},
): FeatureReport {
  return reportFeatures(type, domain, wishesOf({ staticExport: true, localSearch: true, ...named }));
}
