import type { SiteConfig } from '../../config/index.ts';
import { keptVersions, type SiteStore } from '../../deploy/index.ts';
import type { ReleaseView } from '../../domain/release.ts';
import type { SiteAssets } from '../../http/site/site-assets.ts';
import { ownVersions, type SamePages, SiteLanguages } from '../../serve/index.ts';
import { asciiHtml, NO_ADDITIONS, type PageAdditions, startTag } from '../../web/additions/page-additions.ts';
import { encodeAddress } from '../../web/escape.ts';
import type { PageLanguage } from '../../web/words/index.ts';

/** Addresses of a site's switcher, as pages name them; plain data. */
export type SwitcherFiles = Readonly<Record<'script' | 'style', string>>;

/** A version that is read. */
interface ReadVersion {
  readonly version: string;
  /** Label of the active one. */
  readonly active: string;
}

/** What a release and those beside it ask of the switcher. */
export interface VersionSurvey {
  /** There is another version that readers may read. */
  readonly hasOthers: boolean;
  /** Folders of versions that the bundle holds itself. */
  readonly own: readonly string[];
}

/** Null where the config wants none. */
export function switcherFilesOf({ config, basePath }: SiteConfig, assets: SiteAssets): SwitcherFiles | null {
  if (!config.server.versionSwitcher) return null;
  const { script, style } = assets.switcher;
  return { script: basePath + script, style: basePath + style };
}

/** To the pages of a version. A bundle with versions of its own has a switcher. */
export function switcherAdditions(
  { script }: SwitcherFiles,
  { version, active }: ReadVersion,
  { hasOthers, own }: VersionSurvey,
): PageAdditions {
  if (!hasOthers || own.length > 0) return NO_ADDITIONS;
  const attributes = { type: 'module', src: script, 'data-version': version };
  return { head: [`${startTag('script', { ...attributes, 'data-active': active })}</script>`], body: [] };
}

interface VersionPair {
  readonly release: ReleaseView;
  readonly active: ReleaseView;
  /** Of the site. */
  readonly basePath: string;
  readonly pages: SamePages;
}

/** What the pages of a version are sent with that is not the active one. */
export function versionBeside(files: SwitcherFiles, { release, active, basePath, pages }: VersionPair) {
  const labels = { version: release.version, active: active.version };
  const languages = new SiteLanguages(release);
  return {
    toAll: async () => switcherAdditions(files, labels, { hasOthers: true, own: await ownVersions(release) }),
    toPage: async (path: string): Promise<PageAdditions> => {
      const page = await pages.find(askedPath(path), release, active);
      return versionNotice(files, labels, basePath + encodeAddress(page), await languages.at(path));
    },
  };
}

/** As readers ask for a file; for a 404 page, which stands at any address, the root. */
function askedPath(path: string): string {
  return path.replace(/(?:^|(?<=\/))index\.html?$/i, '').replace(/^(?:.*\/)?404(?:\.html|\/)$/, '');
}

function versionNotice(
  { style }: SwitcherFiles,
  { version, active }: ReadVersion,
  address: string,
  { tag, direction, words: { versions: said } }: PageLanguage,
): PageAdditions {
  const text = (sentence: string, label: string): string => asciiHtml(sentence.replace('{version}', () => label));
  const host = startTag('docshelf-versions', {
    role: 'navigation',
    'aria-label': said.list,
    lang: tag,
    dir: direction,
  });
  // Routers of sites leave a link with a target alone.
  const link = `${startTag('a', { href: address, target: '_self' })}${text(said.lead, active)}</a>`;
  return {
    head: [startTag('link', { rel: 'stylesheet', href: style })],
    body: [
      `${host}<p>${text(said.notice, version)} ${link}</p><span>${text(said.version, version)}</span></docshelf-versions>`,
    ],
  };
}

/** @throws the system's own errors */
export async function surveyVersions(store: SiteStore, active: ReleaseView): Promise<VersionSurvey> {
  const versions = await keptVersions(store);
  const hasOthers = versions.some(({ digest, servedAt }) => digest !== active.digest && servedAt !== null);
  return { hasOthers, own: hasOthers ? await ownVersions(active) : [] };
}

/** For operators; null where nothing is left out. */
export function switcherNotice(version: string, { own }: VersionSurvey): string | null {
  if (own.length === 0) return null;
  const [first, second, ...others] = own;
  const named = [first, second].filter((folder) => folder !== undefined).join(', ');
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `The pages of version "${version}" have no switcher of docshelf's: the bundle holds versions of its own (${named}${more}).`;
}
