import { DocshelfError } from '../../domain/errors.ts';
import type { SiteSink } from '../../domain/job.ts';
import { languageTag } from '../../web/language-tag.ts';

export const SETTINGS_FILE = 'docs.json';

export type SiteSettings = ReturnType<typeof readSettings>;

/** Accent colour of a site, without its lightness. The theme sets the lightness, so that text stays readable. */
export interface Tone {
  readonly hue: number;
  /** Factor of the theme's chroma: 1 for a colour, 0 for a grey. */
  readonly tint: 0 | 1;
}

export type NavigationEntry =
  | { readonly kind: 'page'; readonly name: string }
  | { readonly kind: 'link'; readonly title: string; readonly href: string }
  | { readonly kind: 'group'; readonly title: string; readonly entries: readonly NavigationEntry[] };

export interface LanguageSettings {
  readonly code: string;
  readonly name: string | null;
  readonly navigation: readonly NavigationEntry[] | null;
}

const KEYS = new Set(
  '$schema name description url logo favicon css hue colors links footer language languages navigation versions'.split(
    ' ',
  ),
);

export function readSettings(text: string | null, version: string | null, find: SiteSink['find']) {
  const all = new SettingsReader(text === null ? {} : parseJson(text));
  const own = version === null ? null : all.section('versions')?.section(version);
  const settings = own === null || own === undefined ? all : all.with(own);
  for (const key of settings.keys()) {
    if (!KEYS.has(key)) find({ kind: 'unknown_setting', page: SETTINGS_FILE, detail: `"${key}" is not a known key` });
  }
  const language = settings.text('language');
  return {
    name: settings.text('name'),
    description: settings.text('description'),
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
      next: 'Check the file with a JSON linter. JSON allows no comments, and no comma after the last entry.',
      fields: { path: SETTINGS_FILE },
      cause: error,
    });
  }
  throw new DocshelfError('bad_source', `Cannot read "${SETTINGS_FILE}": it is not a JSON object`, {
    fields: { path: SETTINGS_FILE },
  });
}

function readUrl(settings: SettingsReader): string | null {
  const written = settings.text('url');
  if (written === null) return null;
  const url = URL.parse(written);
  if (url === null || !/^https?:$/.test(url.protocol)) throw settings.fault('url', 'is not an http or https URL');
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
  if (tone === null) throw colors.fault('primary', 'is not a color such as #0f766e');
  return tone;
}

const HEX = /^#(?:([0-9a-f]{3})|([0-9a-f]{6}))$/i;
/** Maximum chroma of a grey. A smaller chroma is not visible as a colour. */
const GREY_CHROMA_MAX = 0.02;

function toneOfColour(colour: string): Tone | null {
  const [, short, long] = HEX.exec(colour) ?? [];
  const digits = long ?? short?.replace(/./g, '$&$&');
  if (digits === undefined) return null;
  const channelAt = (at: number) => linear(Number.parseInt(digits.slice(at, at + 2), 16) / 255);
  const [red, green, blue] = [channelAt(0), channelAt(2), channelAt(4)] as const;
  const long3 = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const middle3 = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short3 = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  const a = 1.9779984951 * long3 - 2.428592205 * middle3 + 0.4505937099 * short3;
  const b = 0.0259040371 * long3 + 0.7827717662 * middle3 - 0.808675766 * short3;
  if (Math.hypot(a, b) < GREY_CHROMA_MAX) return { hue: 0, tint: 0 };
  return { hue: Math.round((Math.atan2(b, a) * 180) / Math.PI + 360) % 360, tint: 1 };
}

const linear = (channel: number): number => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);

const DEPTH_MAX = 16;
const ENTRY_KEYS = ['pages', 'groups', 'tabs'] as const;
const TITLE_KEYS = ['group', 'tab', 'title'] as const;

function readNavigation(settings: SettingsReader): readonly NavigationEntry[] | null {
  const value = settings.value('navigation');
  if (value === null) return null;
  if (!settings.isObject('navigation')) return readEntries(settings, 'navigation', 1);
  const section = settings.section('navigation');
  return section === null || section.value('languages') !== null ? null : entriesOf(section, 1);
}

function readLanguages(settings: SettingsReader): readonly LanguageSettings[] {
  const inNavigation = settings.isObject('navigation') ? settings.section('navigation')?.list('languages') : undefined;
  const listed = settings
    .items('languages')
    .map((value, index) =>
      typeof value === 'string'
        ? { code: settings.languageAt(`languages[${index}]`, value), name: null, navigation: null }
        : readLanguage(settings.item('languages', value, index)),
    );
  return listed.length > 0 ? listed : (inNavigation ?? []).map(readLanguage);
}

function readLanguage(language: SettingsReader): LanguageSettings {
  const key = language.value('code') === null ? 'language' : 'code';
  const own = ENTRY_KEYS.some((name) => language.value(name) !== null) ? entriesOf(language, 1) : null;
  return {
    code: language.languageAt(key, language.needText(key)),
    name: language.text('name'),
    navigation: readNavigation(language) ?? own,
  };
}

function readEntries(settings: SettingsReader, key: string, depth: number): readonly NavigationEntry[] {
  if (depth > DEPTH_MAX) throw settings.fault(key, `is more than ${DEPTH_MAX} groups deep`);
  return settings.items(key).map((value, index): NavigationEntry => {
    if (typeof value === 'string') return { kind: 'page', name: value };
    const entry = settings.item(key, value, index);
    const titleKey = TITLE_KEYS.find((name) => entry.value(name) !== null);
    if (titleKey !== undefined && entry.value('href') === null)
      return { kind: 'group', title: entry.needText(titleKey), entries: entriesOf(entry, depth + 1) };
    return { kind: 'link', title: entry.text('label') ?? entry.needText('title'), href: entry.needText('href') };
  });
}

const entriesOf = (settings: SettingsReader, depth: number): readonly NavigationEntry[] =>
  ENTRY_KEYS.flatMap((key) => readEntries(settings, key, depth));

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Reads settings of a Markdown site. Reports each value of the wrong type with the path of its key. Null counts as absent. */
class SettingsReader {
  readonly #values: Readonly<Record<string, Json>>;
  readonly #prefix: string;

  constructor(values: Readonly<Record<string, Json>>, prefix = '') {
    this.#values = values;
    this.#prefix = prefix;
  }

  keys(): readonly string[] {
    return Object.keys(this.#values);
  }

  with(other: SettingsReader): SettingsReader {
    return new SettingsReader({ ...this.#values, ...other.#values }, this.#prefix);
  }

  value(key: string): Json {
    return (Object.hasOwn(this.#values, key) ? this.#values[key] : null) ?? null;
  }

  isObject(key: string): boolean {
    return isObject(this.value(key));
  }

  text(key: string): string | null {
    const value = this.value(key);
    if (value === null) return null;
    if (typeof value !== 'string') throw this.fault(key, 'is not text');
    return value.trim() || null;
  }

  needText(key: string): string {
    const text = this.text(key);
    if (text === null) throw this.fault(key, 'is missing');
    return text;
  }

  languageAt(key: string, written: string): string {
    const code = languageTag(written);
    if (code === null) throw this.fault(key, 'is not a language tag such as fr or pt-BR');
    return code;
  }

  number(key: string, min: number, max: number): number | null {
    const value = this.value(key);
    if (value === null) return null;
    if (typeof value !== 'number' || value < min || value > max)
      throw this.fault(key, `is not a number from ${min} to ${max}`);
    return value;
  }

  section(key: string): SettingsReader | null {
    const value = this.value(key);
    if (value === null) return null;
    if (!isObject(value)) throw this.fault(key, 'is not an object');
    return new SettingsReader(value, `${this.#prefix}${key}.`);
  }

  list(key: string): readonly SettingsReader[] {
    return this.items(key).map((value, index) => this.item(key, value, index));
  }

  items(key: string): readonly Json[] {
    const value = this.value(key);
    if (value === null) return [];
    if (!Array.isArray(value)) throw this.fault(key, 'is not a list');
    return value;
  }

  item(key: string, value: Json, index: number): SettingsReader {
    if (!isObject(value)) throw this.fault(`${key}[${index}]`, 'is not an object');
    return new SettingsReader(value, `${this.#prefix}${key}[${index}].`);
  }

  fault(key: string, state: string): DocshelfError {
    const name = `${this.#prefix}${key}`;
    return new DocshelfError('bad_source', `Cannot read "docs.json": "${name}" ${state}`, {
      next: 'Look up the keys of docs.json on the page "Markdown reference" of the manual.',
      fields: { path: 'docs.json', key: name },
    });
  }
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
