import { createView } from './view.js';
import { chooseLanguage } from './words.js';

// Loaded when a reader begins to search. The build inserts the style and the English words. Other languages load their words first.
let view = createView(await chooseLanguage());

/**
 * @param {HTMLElement | null} from element that gets the focus back
 * @param {HTMLInputElement} typed field with the text that was typed before this file was loaded
 */
export function open(from, typed) {
  view.show(from, typed.value);
  typed.remove();
  // A single-page site can change its language while the reader is on it.
  void chooseLanguage().then((language) => {
    if (language.tag === view.language.tag) return;
    const query = view.close();
    view = createView(language);
    view.show(from, query);
  });
}
