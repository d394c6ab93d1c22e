import { join } from 'node:path';
import { renderFolder } from '../../test/export/markdown/render-folder.ts';
import type { Bench, DaemonProcess } from '../../test/helpers/daemon.ts';
import { importSite } from './import-site.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Bundles, imported one after another, so that the last bundle of a site is active. */
const BUNDLES = [
  { domain: 'manual', source: 'docs', version: '2026-10-01' },
  { domain: 'manual', source: 'docs', version: '2026-11-01' },
  { domain: 'handbook', source: 'examples/demo/handbook', version: '2026-11-01' },
];
const TITLES = { manual: 'docshelf, the manual', handbook: 'The handbook of the docs team' };

/** Starts a shelf of two sites: the manual at `/manual/`, in two versions, and the demo's handbook at `/handbook/`. */
export async function startExample(bench: Bench): Promise<DaemonProcess> {
  const sites = Object.entries(TITLES).map(([domain, title]) => ({
    domain,
    title,
    basePath: `/${domain}/`,
    staticExport: { enabled: true, serveVersions: 'kept' },
    versionSwitcher: true,
  }));
  const daemon = await bench.start({ sites, staticExport: null, search: { widget: true }, log: { access: false } });
  for (const { domain, source, version } of BUNDLES) {
    const { files } = await renderFolder(join(ROOT, source), { version });
    await importSite(bench, daemon, { files, version, domain });
  }
  return daemon;
}
