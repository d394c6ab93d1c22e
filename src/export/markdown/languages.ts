import { languageTag } from '../../web/language-tag.ts';
import type { LanguageSettings, NavigationEntry } from './settings.ts';

export interface Language {
  readonly code: string;
  readonly name: string;
  readonly direction: 'ltr' | 'rtl';
  readonly folder: string;
  readonly words: Words;
  readonly navigation: readonly NavigationEntry[] | null;
}

const RIGHT_TO_LEFT = new Set('ar arc ckb dv fa he ks ps sd syr ug ur yi'.split(' '));
const RIGHT_TO_LEFT_SCRIPTS = new Set(['Arab', 'Hebr', 'Syrc', 'Thaa', 'Nkoo']);
/** Matches folder names of languages, such as `de` or `pt-BR`. Longer names do not match, because they are usually words. */
const SHORT_CODE = /^[a-z]{2}(?:[-_][A-Za-z]{2,4})?$/;
const COUNTERPARTS_MIN = 0.5;

/** Returns the default language, then languages of `docs.json` or of translated top folders, then languages in front matter. */
export function findLanguages(
  declared: readonly LanguageSettings[],
  defaultCode: string | null,
  pages: readonly string[],
  named: readonly string[],
): readonly Language[] {
  const folders = [...new Set(pages.flatMap((path) => /^([^/]*)\//.exec(path)?.[1] ?? []))];
  const translations = declared.length > 0 ? [] : translationFolders(folders, pages);
  const hasRootPages = pages.some((path) => !translations.some((folder) => path.startsWith(`${folder}/`)));
  const found =
    declared.length > 0 ? declared : translations.map((folder) => undeclared(languageTag(folder) ?? folder));
  const first = defaultCode ?? declared[0]?.code ?? (hasRootPages ? 'en' : (found[0]?.code ?? 'en'));
  const byCode = Map.groupBy([...found, ...[first, ...named].map(undeclared)], ({ code }) => code);
  return [...byCode.values()]
    .flatMap(([language]) => language ?? [])
    .sort((a, b) => Number(b.code === first) - Number(a.code === first))
    .map((language) => languageOf(language, folders));
}

export function languageOfPage(path: string, named: string | null, languages: readonly Language[]): Language {
  const byName = named === null ? undefined : languages.find(({ code }) => code === named);
  const byFolder = languages.find(({ folder }) => folder !== '' && path.startsWith(folder));
  const language = byName ?? byFolder ?? languages[0];
  if (language === undefined) throw new Error('a site has at least one language');
  return language;
}

/** Key that all translations of a page share: the address without the language, such as `start` for `fr/start` and `start.fr`. */
export function translationKey(address: string, language: Language): string {
  if (language.folder !== '' && address.startsWith(language.folder)) return address.slice(language.folder.length);
  return address.endsWith(`.${language.code}`) ? address.slice(0, -language.code.length - 1) : address;
}

const undeclared = (code: string): LanguageSettings => ({ code, name: null, navigation: null });

function languageOf({ code, name, navigation }: LanguageSettings, folders: readonly string[]): Language {
  const folder = folders.find((each) => languageTag(each) === code);
  const [language = '', script = ''] = code.split('-');
  return {
    code,
    name: name ?? autonymOf(code),
    direction: RIGHT_TO_LEFT.has(language) || RIGHT_TO_LEFT_SCRIPTS.has(script) ? 'rtl' : 'ltr',
    folder: folder === undefined ? '' : `${folder}/`,
    words: wordsOf(code),
    navigation,
  };
}

function autonymOf(code: string): string {
  const name = displayName(code, code) ?? code;
  return name.charAt(0).toLocaleUpperCase(code) + name.slice(1);
}

function translationFolders(folders: readonly string[], pages: readonly string[]): readonly string[] {
  const candidates = folders.filter((folder) => SHORT_CODE.test(folder) && isKnownLanguage(folder));
  const all = new Set(pages);
  return candidates.filter((folder) => {
    const own = pages.filter((path) => path.startsWith(`${folder}/`)).map((path) => path.slice(folder.length + 1));
    const others = ['', ...candidates.filter((other) => other !== folder).map((other) => `${other}/`)];
    const shared = own.filter((path) => others.some((other) => all.has(other + path)));
    return shared.length >= own.length * COUNTERPARTS_MIN;
  });
}

function isKnownLanguage(folder: string): boolean {
  const tag = languageTag(folder);
  return tag !== null && displayName(tag, 'en') !== null;
}

function displayName(tag: string, language: string): string | null {
  const { baseName } = new Intl.Locale(tag);
  return new Intl.DisplayNames([language], { type: 'language', fallback: 'none' }).of(baseName) ?? null;
}

// biome-ignore format: in the order of the lines below
const KEYS = [
  'skip', 'navigation', 'onThisPage', 'previous', 'next', 'version', 'language', 'isNew', 'copy', 'copied', 'colours', 'light', 'dark',
  'system', 'note', 'tip', 'important', 'warning', 'caution', 'table', 'linkTo', 'notFound', 'notFoundLead', 'toStart', 'more',
] as const;
export type Words = Readonly<Record<(typeof KEYS)[number], string>>;

/** Texts of generated pages in the order of `KEYS`. Each language is one line, so that a translator sees all texts. */
export const LINES: Readonly<Record<string, string>> = {
  en: 'Skip to content|Navigation|On this page|Previous|Next|Version|Language|New|Copy|Copied|Colours|light|dark|same as the system|Note|Tip|Important|Warning|Caution|Table|Link to|Page not found|There is no such page here.|To the start page|More',
  de: 'Zum Inhalt springen|Navigation|Auf dieser Seite|Zurück|Weiter|Version|Sprache|Neu|Kopieren|Kopiert|Farben|hell|dunkel|wie das System|Hinweis|Tipp|Wichtig|Warnung|Achtung|Tabelle|Link zu|Seite nicht gefunden|Diese Seite gibt es hier nicht.|Zur Startseite|Mehr',
  fr: 'Aller au contenu|Navigation|Sur cette page|Précédent|Suivant|Version|Langue|Nouveau|Copier|Copié|Couleurs|clair|sombre|comme le système|Remarque|Astuce|Important|Avertissement|Attention|Tableau|Lien vers|Page introuvable|Cette page n’existe pas ici.|Vers l’accueil|Plus',
  es: 'Saltar al contenido|Navegación|En esta página|Anterior|Siguiente|Versión|Idioma|Nuevo|Copiar|Copiado|Colores|claro|oscuro|como el sistema|Nota|Consejo|Importante|Advertencia|Precaución|Tabla|Enlace a|Página no encontrada|Esta página no existe aquí.|Ir al inicio|Más',
  pt: 'Ir para o conteúdo|Navegação|Nesta página|Anterior|Próxima|Versão|Idioma|Novo|Copiar|Copiado|Cores|claro|escuro|como o sistema|Nota|Dica|Importante|Aviso|Cuidado|Tabela|Link para|Página não encontrada|Esta página não existe aqui.|Para o início|Mais',
  it: 'Vai al contenuto|Navigazione|In questa pagina|Precedente|Successiva|Versione|Lingua|Nuovo|Copia|Copiato|Colori|chiaro|scuro|come il sistema|Nota|Suggerimento|Importante|Avviso|Attenzione|Tabella|Collegamento a|Pagina non trovata|Questa pagina qui non esiste.|Alla pagina iniziale|Altro',
  nl: 'Naar de inhoud|Navigatie|Op deze pagina|Vorige|Volgende|Versie|Taal|Nieuw|Kopiëren|Gekopieerd|Kleuren|licht|donker|zoals het systeem|Opmerking|Tip|Belangrijk|Waarschuwing|Let op|Tabel|Link naar|Pagina niet gevonden|Deze pagina bestaat hier niet.|Naar de startpagina|Meer',
  pl: 'Przejdź do treści|Nawigacja|Na tej stronie|Poprzednia|Następna|Wersja|Język|Nowe|Kopiuj|Skopiowano|Kolory|jasne|ciemne|jak w systemie|Uwaga|Wskazówka|Ważne|Ostrzeżenie|Ostrożnie|Tabela|Link do|Nie znaleziono strony|Nie ma tu takiej strony.|Do strony głównej|Więcej',
  ru: 'К содержанию|Навигация|На этой странице|Назад|Далее|Версия|Язык|Новое|Копировать|Скопировано|Цвета|светлые|тёмные|как в системе|Примечание|Совет|Важно|Предупреждение|Осторожно|Таблица|Ссылка на|Страница не найдена|Такой страницы здесь нет.|На главную|Ещё',
  ja: '本文へスキップ|ナビゲーション|このページの内容|前へ|次へ|バージョン|言語|新規|コピー|コピーしました|配色|ライト|ダーク|システムに合わせる|注|ヒント|重要|警告|注意|表|リンク:|ページが見つかりません|このページはここにはありません。|トップページへ|もっと見る',
  zh: '跳到正文|导航|本页内容|上一页|下一页|版本|语言|新|复制|已复制|颜色|浅色|深色|跟随系统|注|提示|重要|警告|注意|表格|链接到|找不到页面|这里没有这个页面。|回到首页|更多',
  ko: '본문으로 건너뛰기|탐색|이 페이지의 내용|이전|다음|버전|언어|신규|복사|복사됨|색상|밝게|어둡게|시스템 설정|참고|팁|중요|경고|주의|표|링크:|페이지를 찾을 수 없습니다|여기에는 그런 페이지가 없습니다.|시작 페이지로|더 보기',
  ar: 'انتقل إلى المحتوى|التنقل|في هذه الصفحة|السابق|التالي|الإصدار|اللغة|جديد|نسخ|تم النسخ|الألوان|فاتح|داكن|مثل النظام|ملاحظة|نصيحة|مهم|تحذير|تنبيه|جدول|رابط إلى|الصفحة غير موجودة|لا توجد صفحة كهذه هنا.|إلى صفحة البداية|المزيد',
  he: 'דילוג לתוכן|ניווט|בעמוד זה|הקודם|הבא|גרסה|שפה|חדש|העתקה|הועתק|צבעים|בהיר|כהה|כמו במערכת|הערה|עצה|חשוב|אזהרה|זהירות|טבלה|קישור אל|העמוד לא נמצא|אין כאן עמוד כזה.|לעמוד הראשי|עוד',
  fa: 'پرش به محتوا|ناوبری|در این صفحه|قبلی|بعدی|نسخه|زبان|جدید|کپی|کپی شد|رنگ‌ها|روشن|تیره|مانند سیستم|نکته|راهنمایی|مهم|هشدار|احتیاط|جدول|پیوند به|صفحه پیدا نشد|چنین صفحه‌ای اینجا نیست.|به صفحهٔ آغاز|بیشتر',
};

export function wordsOf(code: string): Words {
  const words = (LINES[code] ?? LINES[code.split('-')[0] ?? ''] ?? LINES.en ?? '').split('|');
  return Object.fromEntries(KEYS.map((key, index) => [key, words[index] ?? ''])) as Words;
}
