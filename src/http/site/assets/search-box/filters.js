import { element } from './element.js';

function languageName(tag, shownIn) {
  try {
    return new Intl.DisplayNames(shownIn, { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

/**
 * Shows a choice only if it has several values.
 * @returns {{node: HTMLElement, chosen: () => Record<string, string>, offer: (facets: object) => void}} `chosen` returns query parameters
 */
export function createFilters({ words, tag: shownIn }, { isShelf, onChange }) {
  const node = element('div', { class: 'filters' });
  const chosen = new Map();
  /** Names of the filters that the reader has set. All other filters have the values of the page. */
  const byReader = new Set();
  const selects = new Map();

  function choice(key, label, values) {
    const select = element('select', {}, ...values.map(([value, name]) => element('option', { value }, name)));
    select.value = chosen.get(key) ?? '';
    select.addEventListener('change', () => {
      chosen.set(key, select.value);
      byReader.add(key);
      onChange();
    });
    selects.set(key, JSON.stringify(values));
    const labelled = element('label', { 'data-key': key }, element('span', {}, label), select);
    const before = node.querySelector(`[data-key=${key}]`);
    if (before === null) node.append(labelled);
    else before.replaceWith(labelled);
  }

  function offerOne(key, label, list = [], nameOf = (value) => value) {
    const values = [['', words.all], ...list.map((value) => [value, nameOf(value)])];
    if (list.length < 2 || selects.get(key) === JSON.stringify(values)) return;
    choice(key, label, values);
  }

  if (isShelf) {
    const values = [
      ['', words.thisSite],
      ['all', words.allSites],
    ];
    choice('scope', words.scope, values);
  }
  return {
    node,
    chosen: () => Object.fromEntries([...chosen].filter(([, value]) => value !== '')),
    offer({ languages, versions, tags } = {}) {
      offerOne('language', words.language, languages, (tag) => languageName(tag, shownIn));
      offerOne('version', words.version, versions);
      offerOne('tag', words.tag, tags);
    },
    /** Sets a filter to the value of the page, unless the reader has set this filter. */
    choose(key, value = '') {
      if (byReader.has(key)) return;
      chosen.set(key, value);
      const select = node.querySelector(`[data-key=${key}] select`);
      if (select !== null) select.value = value;
    },
  };
}
