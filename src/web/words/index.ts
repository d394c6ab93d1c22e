import ar from './ar.json' with { type: 'json' };
import de from './de.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };
import es from './es.json' with { type: 'json' };
import fa from './fa.json' with { type: 'json' };
import fr from './fr.json' with { type: 'json' };
import he from './he.json' with { type: 'json' };
import it from './it.json' with { type: 'json' };
import ja from './ja.json' with { type: 'json' };
import ko from './ko.json' with { type: 'json' };
import nl from './nl.json' with { type: 'json' };
import pl from './pl.json' with { type: 'json' };
import pt from './pt.json' with { type: 'json' };
import ru from './ru.json' with { type: 'json' };
import zh from './zh.json' with { type: 'json' };

/**
 * Texts of docshelf's pages for readers. A notice is a list of lines: title, text and, if the notice has a button, the label
 * of the button.
 */
export type ReaderWords = typeof en;

export type PageLanguage = { readonly tag: string; readonly direction: 'ltr' | 'rtl'; readonly words: ReaderWords };

const RIGHT_TO_LEFT: readonly (string | undefined)[] = ['Arab', 'Hebr'];
/** Maximum languages to read from a request. Browsers send up to ten languages. */
const RANGES_MAX = 32;

/** Texts by language. To add a language, add a JSON file and a member here, and add it to the theme for Markdown sources. */
const WORDS = { en, ar, de, es, fa, fr, he, it, ja, ko, nl, pl, 'pt-BR': pt, ru, 'zh-Hans': zh };

export const PAGE_LANGUAGES: readonly PageLanguage[] = Object.entries(WORDS).map(([tag, words]) => {
  const { script } = new Intl.Locale(tag).maximize();
  return { tag, direction: RIGHT_TO_LEFT.includes(script) ? 'rtl' : 'ltr', words };
});
export const ENGLISH = PAGE_LANGUAGES[0] as PageLanguage;

const BY_KEY = new Map(PAGE_LANGUAGES.map((language) => [keyOf(language.tag), language]));

/**
 * Key that finds a page language by language and script, because Chinese has different scripts in Taiwan and Beijing. Null for
 * an invalid tag.
 */
function keyOf(tag: string): string | null {
  try {
    // Accept language tags with `_` instead of `-`, which is a common mistake.
    const { language, script } = new Intl.Locale(tag.replaceAll('_', '-')).maximize();
    return `${language} ${script}`;
  } catch {
    return null;
  }
}

export const languageOf = (tag: string): PageLanguage | null => BY_KEY.get(keyOf(tag)) ?? null;

/** Selects the page language by RFC 9110, section 12.5.4. The default is English. */
export function preferredLanguage(acceptLanguage: string | undefined): PageLanguage {
  const ranges = (acceptLanguage ?? '').split(',', RANGES_MAX).map((each) => {
    const [range = '', weight = ''] = each.split(';', 2).map((part) => part.trim());
    const quality = /^q=/i.test(weight) ? Number(weight.slice(2)) : 1;
    return { language: languageOf(range), quality: quality > 0 ? quality : 0 };
  });
  ranges.sort((one, other) => other.quality - one.quality);
  return ranges.find(({ language, quality }) => language !== null && quality > 0)?.language ?? ENGLISH;
}
