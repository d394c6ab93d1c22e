import type { SiteActions } from '../../http/admin/actions.ts';
import { clientLeft } from '../../http/problem.ts';
import { diffVersions } from '../../serve/versions/diff-versions.ts';
import { previewLink } from './preview.ts';
import type { ShelfSite } from './shelf-site.ts';

/** What the admin listener and a daemon's socket can have done to a site. @param port of the site listener */
export function siteActions({ deployment, metrics, config }: ShelfSite, port: number): SiteActions {
  return {
    onBundleRefused: (source) => metrics.onBundleRefused(source),
    activate: (version) => deployment.activate(version),
    rollback: () => deployment.rollback(),
    preview: async (version) => {
      const release = await deployment.stored(version);
      return previewLink(config, { ...release, domain: deployment.domain }, port);
    },
    diff: async (before, after, signal) => {
      const [former, next] = [await deployment.stored(before), await deployment.stored(after)];
      const pages = await diffVersions({ before: former.releaseDir, after: next.releaseDir }, signal);
      return { before, after, ...pages };
    },
    remove: (version) => deployment.remove(version),
    upload: (fileName, body, { version, activate, signature, source, signal }) =>
      deployment
        .deliverStream(body, { fileName, version, activate, signature, source }, signal)
        .catch((error: unknown) => {
          // Else it would be a fault of docshelf's own in its audit line.
          throw signal.aborted ? clientLeft(`take in "${fileName}"`) : error;
        }),
    takeUp: (release, activate) => deployment.takeUp(release, activate),
  };
}
