import type { Config } from '../../config/index.ts';
import type { ReleaseStore } from '../../deploy/index.ts';
import { type Diagnosis, sound, warning } from '../../domain/diagnosis.ts';
import { holdsFiles } from './check-sources.ts';

/**
 * Whether there is something to serve, or a place that it comes from. Without either a daemon runs and waits: no fault, since an
 * archive may be brought to it, but nothing that a person should find out by its 503.
 */
export async function checkBundle({ staticExport }: Config, store: ReleaseStore): Promise<Diagnosis[]> {
  const { enabled, bundleUrl, renew, version, preload } = staticExport;
  // What a link or a folder of archives holds is known once it is looked at.
  if (!enabled || bundleUrl !== null || renew !== null || (await holdsFiles(preload))) return [];
  const take = `docshelf bundle import FILE${version === null ? '' : ` --version ${version}`}`;
  const next = `Take one in with "${take}", put an archive into "${preload}", or set staticExport.bundleUrl.`;
  if (version !== null) {
    const isStored = (await store.label(version).catch(() => null)) !== null;
    return isStored
      ? [sound('bundle', 'staticExport.version', `Version ${version} is stored.`)]
      : [
          warning(
            'bundle',
            'staticExport.version',
            `Version ${version} is not stored, and nothing says where to get it.`,
            next,
          ),
        ];
  }
  const stored = await store.list().catch(() => []);
  if (stored.length > 0) return [sound('bundle', 'the bundle', 'A version to serve is stored.')];
  return [warning('bundle', 'the bundle', 'No version is stored, and nothing says where to get one.', next)];
}
