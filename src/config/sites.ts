import { join } from 'node:path';
import { normalBasePath } from '../domain/deployment.ts';
import type { Secret } from '../domain/secret.ts';
import { decode } from './decode.ts';
import { findMixedSignIns, findSiteFaults, type SiteConfig } from './entry-rules.ts';
import { NamedFolder, type NamedPath } from './read-config-file.ts';
import { findBrokenRules } from './rules.ts';
import type { Config } from './schema/index.ts';
import { schemaAt, sectionOf } from './schema-node.ts';
import { type ConfigFault, faultOf, pathOf, pointerOf, type Setting, Settings, settingsOf } from './setting.ts';

export interface LoadedConfig {
  readonly config: Config;
  readonly sites: readonly SiteConfig[];
  readonly file: string | null;
  readonly text: Secret | null;
  readonly written: ReadonlySet<string>;
  /** Source of each value that is set, by its dotted key, in the form of `Setting.where`. */
  readonly origins: ReadonlyMap<string, string>;
  readonly watchedFiles: readonly string[];
}

type Entry = Readonly<Record<string, unknown>>;

/** Call `findFaults` only after the files named in the config have been read, because some rules check their content. */
export function decodeSites(settings: Settings, config: Config, baseDir: string) {
  const setting = settings.get('sites');
  const entries = (setting?.value ?? []) as readonly Entry[];
  const named: NamedPath[] = [];
  const checks: (() => ConfigFault[])[] = [];
  const shared = settings.all().filter(({ path }) => path[0] !== 'sites');
  const ofDaemon = new Set(findBrokenRules(new Settings(shared), config, new Set()).map(({ message }) => message));
  const sites = config.sites.map(({ domain, title, hosts, basePath }, index): SiteConfig => {
    const own = ownSettings(entries[index] ?? {}, index, setting);
    const whole = new Settings([...shared, ...own]);
    // Decode only the sections that the entry of the site sets. For other sections, all sites share the objects of the daemon.
    const written = own.filter(({ path: [section, key] }) => section !== 'server' || key !== 'basePath');
    const decoded = decode(whole, baseDir, new Set(written.map(({ path }) => path[0] ?? '')));
    const { deployment, staticExport, features, search, server }: Config = { ...config, ...decoded.config };
    const { preload } = staticExport;
    const hasPreload = whole.get('staticExport.preload') !== undefined;
    const folder = hasPreload ? preload : new NamedFolder(join(preload.dir, domain), true);
    const site: Config = {
      ...config,
      deployment,
      staticExport: { ...staticExport, preload: folder },
      features,
      search,
      server: { ...server, basePath },
    };
    const prefix = `sites[${index}]`;
    for (const path of decoded.named) {
      if (isOfSite(pathOf(path.pointer))) named.push({ ...path, key: `${prefix}.${path.key}` });
    }
    checks.push(() => {
      const broken = findBrokenRules(whole, site, new Set(), config).filter(({ message }) => !ofDaemon.has(message));
      const faults = broken.map(({ message, key, where }) =>
        faultOf(`${prefix} (${domain}): ${message}`, `${prefix}.${key}`, where),
      );
      if (site.search.model !== 'off' && JSON.stringify(site.search.model) !== JSON.stringify(config.search.model)) {
        const key = `${prefix}.search.model`;
        const where = whole.get('search.model')?.where ?? null;
        faults.push(
          faultOf(`${key} differs from search.model; a site can only use the model of the daemon, or off`, key, where),
        );
      }
      return faults;
    });
    return { domain, title, hosts, basePath: normalBasePath(basePath), config: site };
  });
  const findFaults = (): ConfigFault[] => [
    ...findSiteFaults(settings, config),
    ...findMixedSignIns(settings, config, sites),
    ...checks.flatMap((check) => check()),
  ];
  return { sites, named, findFaults };
}

function ownSettings(entry: Entry, index: number, setting: Setting | undefined): Setting[] {
  const where = setting?.where ?? '';
  return Object.entries(entry).flatMap(([key, value]) => {
    const path = placeOf(key);
    if (path === null) return [];
    const top = pointerOf(path);
    const at = pointerOf(['sites', index, key]);
    const places = { get: (pointer: string) => setting?.places.get(at + pointer.slice(top.length)) };
    return settingsOf(value, { where: places.get(top) ?? where, places }, path);
  });
}

function placeOf(key: string): string[] | null {
  if (key === 'domain') return ['deployment', key];
  if (key === 'title' || key === 'hosts') return null;
  return sectionOf(schemaAt(['server']))?.properties?.[key] === undefined ? [key] : ['server', key];
}

function isOfSite([section = '', key = '']: readonly string[]): boolean {
  const perSite = sectionOf(schemaAt(['sites'])?.items)?.properties ?? {};
  return section === 'server' ? key in perSite : section in perSite;
}
