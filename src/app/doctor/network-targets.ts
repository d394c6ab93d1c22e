import type { Config } from '../../config/index.ts';
import type { Secret } from '../../domain/secret.ts';
import type { HttpClientSettings } from '../../net/http-client.ts';
import { featureReport, httpClientSlice } from '../slices.ts';

/** A link that the config names and the daemon asks. */
export interface NetworkTarget {
  readonly setting: string;
  readonly link: Secret | string;
  /** `bundle`: opened as the daemon opens it; `service`: any answer will do. */
  readonly kind: 'bundle' | 'service';
  /** The rules that it is asked by. */
  readonly rules: HttpClientSettings;
}

/** Every link of the config that holds here and now: what is turned off is not asked. */
export function networkTargets(config: Config): NetworkTarget[] {
  const { staticExport, features, search, exportApi, deployment } = config;
  const rules = httpClientSlice(config);
  const targets: NetworkTarget[] = [];
  const add = (setting: string, link: Secret | string | null, kind: NetworkTarget['kind'] = 'service'): void => {
    if (link !== null) targets.push({ setting, link, kind, rules });
  };
  if (staticExport.enabled) {
    add('staticExport.bundleUrl', staticExport.bundleUrl, 'bundle');
    add('staticExport.signature.url', staticExport.signature.url, 'bundle');
    add('staticExport.renew.apiUrl', staticExport.renew?.apiUrl ?? null);
  }
  const report = featureReport(config, deployment.domain ?? '');
  const isHosted = report.features.some(({ id, enabled }) => id === 'search' && enabled);
  if (isHosted) add('features.search.discoveryUrl', features.search.hosted?.discoveryUrl ?? null);
  if (search.enabled && search.model.kind === 'endpoint') add('search.model', search.model.url);
  const { store } = exportApi;
  if (exportApi.enabled && store.kind === 's3') {
    const link = store.endpoint ?? `https://s3.${store.region ?? 'us-east-1'}.amazonaws.com`;
    // The store is no source of bundles: the rules of `network` say nothing of it.
    const own = { ...rules, allowedHosts: [], allowNone: false, allowPrivate: true, caFile: store.caFile };
    targets.push({ setting: 'exportApi.store', link, kind: 'service', rules: own });
  }
  if (exportApi.enabled) targets.push(...crawlTargets(config, rules));
  return targets;
}

/** Sites that are exported from where they live. A crawl asks by rules of its own, and reaches private addresses only where it may. */
function crawlTargets({ organizations }: Config, rules: HttpClientSettings): NetworkTarget[] {
  return organizations
    .flatMap(({ sites }) => sites)
    .flatMap(({ domain, source }) => {
      if (source?.kind !== 'crawl') return [];
      const own = { ...rules, allowedHosts: [], allowNone: false, allowPrivate: source.allowAddresses.length > 0 };
      return [{ setting: `the source of ${domain}`, link: source.url, kind: 'service', rules: own }];
    });
}
