import type { SiteActions } from '../../http/admin/actions.ts';
import type { ShelfSite } from './shelf-site.ts';

/** What the admin listener and a daemon's socket can have done to a site. */
export function siteActions({ deployment, metrics }: ShelfSite): SiteActions {
  return {
    onBundleRefused: (source) => metrics.onBundleRefused(source),
    activate: (version) => deployment.activate(version),
    rollback: () => deployment.rollback(),
    remove: (version) => deployment.remove(version),
    upload: (fileName, body, { version, activate, signature, source, signal }) =>
      deployment.deliverStream(body, { fileName, version, activate, signature, source }, signal),
    takeUp: (release, activate) => deployment.takeUp(release, activate),
  };
}
