import { DocshelfError } from '../../../domain/errors.ts';
import type { SiteSink } from '../../../domain/job.ts';
import { readLanguages, readNavigation } from './navigation-settings.ts';
import { isObject, type Json, SettingsReader } from './settings-reader.ts';
import { type Tone, toneOfColour } from './tone.ts';

export const SETTINGS_FILE = 'docs.json';

/** The settings of `docs.json`, null where they are left out. Files are named as in the folder. */
export type SiteSettings = ReturnType<typeof readSettings>;

const KEYS = new Set(
  '$schema name description url logo favicon css hue colors links footer language languages navigation versions'.split(
    ' ',
  ),
);

/** An unknown key is reported and ignored: other programs read such files too. @throws DocshelfError `bad_source` */
export function readSettings(text: string | null, version: string | null, find: SiteSink['find']) {
  const all = new SettingsReader(text === null ? {} : parseJson(text));
  const own = version === null ? null : all.section('versions')?.section(version);
  const settings = own === null || own === undefined ? all : all.with(own);
  for (const key of settings.keys()) {
    if (!KEYS.has(key)) find({ kind: 'unknown_setting', page: SETTINGS_FILE, detail: `"${key}" is not known here` });
  }
  const language = settings.text('language');
  return {
    name: settings.text('name'),
    description: settings.text('description'),
    /** Without a trailing slash. */
    url: readUrl(settings),
    logo: readLogo(settings),
    favicon: settings.text('favicon'),
    css: settings.text('css'),
    tone: readTone(settings),
    links: settings.list('links').map((link) => ({ label: link.needText('label'), href: link.needText('href') })),
    footer: settings.text('footer'),
    language: language === null ? null : settings.languageAt('language', language),
    languages: readLanguages(settings),
    navigation: readNavigation(settings),
  };
}

function parseJson(text: string): Readonly<Record<string, Json>> {
  try {
    const value = JSON.parse(text) as Json;
    if (isObject(value)) return value;
  } catch (error) {
    throw new DocshelfError('bad_source', `Cannot read "${SETTINGS_FILE}": ${(error as Error).message}`, {
      next: 'Check the file with a JSON linter; JSON takes no comments and no comma after the last entry.',
      fields: { path: SETTINGS_FILE },
      cause: error,
    });
  }
  throw new DocshelfError('bad_source', `Cannot read "${SETTINGS_FILE}": it is no JSON object`, {
    fields: { path: SETTINGS_FILE },
  });
}

function readUrl(settings: SettingsReader): string | null {
  const written = settings.text('url');
  if (written === null) return null;
  const url = URL.parse(written);
  if (url === null || !/^https?:$/.test(url.protocol)) throw settings.fault('url', 'is no address with http or https');
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

function readLogo(settings: SettingsReader): { readonly light: string; readonly dark: string } | null {
  if (!settings.isObject('logo')) {
    const file = settings.text('logo');
    return file === null ? null : { light: file, dark: file };
  }
  const logo = settings.section('logo');
  const light = logo?.text('light') ?? logo?.text('dark') ?? null;
  return light === null ? null : { light, dark: logo?.text('dark') ?? light };
}

function readTone(settings: SettingsReader): Tone | null {
  const hue = settings.number('hue', 0, 360);
  if (hue !== null) return { hue, tint: 1 };
  const colors = settings.section('colors');
  const primary = colors?.text('primary') ?? null;
  if (colors === null || primary === null) return null;
  const tone = toneOfColour(primary);
  if (tone === null) throw colors.fault('primary', 'is no colour like #0f766e');
  return tone;
}
