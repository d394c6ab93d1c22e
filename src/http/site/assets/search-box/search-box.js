import { createView } from './view.js';
import { chooseLanguage } from './words.js';

// Loaded when a reader is about to search. The style and the English words are put in by the build; those of the page's language
// come before anything is shown.
let view = createView(await chooseLanguage());

/**
 * @param {HTMLElement | null} from what gets the focus back
 * @param {HTMLInputElement} typed holds what was typed meanwhile
 */
export function open(from, typed) {
  view.show(from, typed.value);
  typed.remove();
  // A site that is one document changes its language as one reads.
  void chooseLanguage().then((language) => {
    if (language.tag === view.language.tag) return;
    const query = view.close();
    view = createView(language);
    view.show(from, query);
  });
}
