/** Words by language tag, or null after a failed fetch. The build defines `ENGLISH`, and `LANGUAGES` with the other tags. */
const fetched = new Map([['en', Promise.resolve(ENGLISH)]]);

const here = import.meta.url;

function keyOf(tag) {
  try {
    const { language, script } = new Intl.Locale(tag.replaceAll('_', '-')).maximize();
    return `${language} ${script}`;
  } catch {
    return null;
  }
}

/** Chooses the language of the page by language and script, because Taiwan and Beijing write Chinese differently. */
export async function chooseLanguage() {
  const wanted = keyOf(document.documentElement.lang);
  const tag = LANGUAGES.find((each) => keyOf(each) === wanted) ?? 'en';
  if (!fetched.has(tag)) fetched.set(tag, fetchWords(tag));
  const words = await fetched.get(tag);
  return words === null ? { tag: 'en', words: ENGLISH } : { tag, words };
}

async function fetchWords(tag) {
  try {
    return await (await fetch(new URL(`./words-${tag}.json`, here))).json();
  } catch {
    return null;
  }
}
