/** A language is fetched once; null where it did not come. `ENGLISH` and `LANGUAGES`, the tags of the others, come from the build. */
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

/** That of the page, where there are words in it: language and script, since Chinese of Taiwan is not written as that of Beijing. */
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
