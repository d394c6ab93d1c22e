import { isDarkPage } from './colours.js';
import { element, fill } from './element.js';
import { createFilters } from './filters.js';
import { createQuestions, RESULTS_MAX } from './questions.js';
import { forgetSearches, recentSearches, rememberSearch } from './recent.js';
import { groupByPage, joinBelow } from './results.js';
import { recentRows, resultRows } from './rows.js';
import style from './search-box.css?inline';

const QUERY_LENGTH_MAX = 1000;
const VERSION_NAMES = ['docsearch:version', 'docusaurus_version', 'readthedocs-version-slug', 'doc:version'];
const settings = document.querySelector('script[src*="_docshelf/assets/search-box"]')?.dataset ?? {};
const isShelf = settings.shelf !== undefined && settings.shelf !== 'false';

const sheet = new CSSStyleSheet();
sheet.replaceSync(style);

/** Returns the version and language that the page states. For a page of an older version, the loader's settings name the version. */
function pageFacts() {
  const meta = VERSION_NAMES.map((name) =>
    document.querySelector(`meta[name="${name}"]`)?.content.split(',')[0].trim(),
  );
  return {
    language: document.documentElement.lang || null,
    version: settings.version === undefined ? (meta.find(Boolean) ?? null) : null,
  };
}

const same = (list = [], wanted) => list.find((each) => each.toLowerCase() === wanted?.toLowerCase());

/** The dialog is at the end of the page, because a header can be hidden or replaced by the site's scripts. */
export function createView(language) {
  const { tag, words } = language;
  const input = element('input', {
    type: 'text',
    role: 'combobox',
    'aria-label': words.label,
    'aria-expanded': 'false',
    'aria-controls': 'list',
    'aria-autocomplete': 'list',
    placeholder: words.label,
    autocomplete: 'off',
    autocapitalize: 'off',
    autocorrect: 'off',
    spellcheck: 'false',
    inputmode: 'search',
    enterkeyhint: 'go',
    maxlength: String(QUERY_LENGTH_MAX),
    dir: 'auto',
  });
  const closer = element('button', {}, words.close);
  const status = element('p', { role: 'status' });
  const more = element('div', { class: 'more' });
  const list = element('div', { role: 'listbox', id: 'list', 'aria-label': words.results, hidden: true });
  const keys = [
    ['↑↓', words.choose],
    ['↵', words.follow],
    [`${/Mac|iP/.test(navigator.platform) ? '⌘' : 'Ctrl'} ↵`, words.newTab],
  ].map(([key, text]) => element('span', {}, element('kbd', { 'data-key': key }), ` ${text}`));
  const filters = createFilters(language, { isShelf, onChange: () => ask(true) });
  const dialog = element(
    'dialog',
    { 'aria-label': words.label, lang: tag, dir: /^(?:fa|ar|he|ur)\b/.test(tag) ? 'rtl' : 'ltr' },
    element('div', { class: 'head' }, input, closer),
    filters.node,
    element('div', { class: 'told' }, status, more),
    list,
    element('div', { class: 'keys', 'aria-hidden': 'true' }, ...keys),
  );
  const host = document.createElement('docshelf-search-dialog');
  const root = host.attachShadow({ mode: 'open' });
  root.adoptedStyleSheets = [sheet];
  root.append(dialog);

  let from = null;
  let groups = [];
  let options = [];
  let selected = -1;
  /** True if the reader has selected a result with the arrow keys since the last typed letter. */
  let isTouched = false;
  /** After Enter without a response: true to open the first result in a new tab, false to open it in this tab. Otherwise null. */
  let awaited = null;
  let isAnswered = false;
  /** Version and language of the page, as filters for the first search. Null after a response shows which of them the site has. */
  let own = null;
  let shownOn = null;

  const questions = createQuestions({ onAnswer, onFault });

  function ask(isNow) {
    const q = input.value.trim();
    isTouched = false;
    isAnswered = false;
    awaited = null;
    more.replaceChildren();
    if (q === '') {
      questions.stop();
      showRecent();
      return;
    }
    const { scope, version = settings.version ?? own?.version, tag, language = own?.language } = filters.chosen();
    // Send version and tag only for a search of one site, because each site has its own.
    const fields = Object.entries({ q, scope, language, ...(scope === undefined && { version, tag }) });
    questions.ask(Object.fromEntries(fields.filter(([, value]) => value != null)), isNow);
  }

  function onAnswer({ results, corrected, excluded = [], inclusive, facets }, isWhole) {
    if (own !== null && takeOwn(facets ?? {}, results.length === 0)) return ask(true);
    filters.offer(facets);
    isAnswered = true;
    const isPointedAt = isTouched || list.matches(':hover');
    groups = isPointedAt && isWhole && options.length > 0 ? joinBelow(groups, results) : groupByPage(results);
    showGroups(facets);
    const count = options.length;
    if (count > 0) say(fill(words.found, { count: results.length < RESULTS_MAX ? count : `${RESULTS_MAX}+` }));
    else say(isWhole ? fill(words.noneFound, { query: input.value.trim() }) : '');
    if (count > 0 || isWhole)
      more.replaceChildren(
        ...(excluded.length > 0
          ? [element('span', { dir: 'auto' }, fill(words.excluded, { words: excluded.join(', ') }))]
          : []),
        ...offer(words.inclusive, inclusive),
        ...(count > 0 ? [] : [...offer(words.didYouMean, corrected), element('span', {}, words.hint)]),
      );
    if (awaited !== null && count > 0) follow(awaited);
  }

  /** Sets the filters of the page. @returns true if the search must run again, because the filters differ from those of the search */
  function takeOwn({ languages, versions = [] }, isEmpty) {
    const asked = own;
    own = null;
    const language = same(languages, asked.language);
    const version = same(versions, asked.version);
    const folder = location.pathname
      .split('/')
      .find((each) => settings.version === undefined && versions.includes(each));
    filters.choose('language', language);
    filters.choose('version', version ?? folder);
    const isOfOthers = version === undefined && folder !== undefined && filters.chosen().version === folder;
    const isUnknown = (asked.language && !language) || (asked.version && !version);
    return isOfOthers || (isEmpty && isUnknown);
  }

  function onFault(code) {
    isAnswered = true;
    awaited = null;
    groups = [];
    showGroups();
    say({ 401: words.signIn, 429: words.busy, 503: words.notReady }[code] ?? words.away);
  }

  function showGroups(facets) {
    const key = isTouched ? options[selected]?.getAttribute('href') : null;
    const shown = resultRows(groups, { manyVersions: (facets?.versions ?? []).length > 1 });
    show(shown.nodes, shown.options, words.results);
    const again = options.findIndex((option) => option.getAttribute('href') === key);
    select(again === -1 ? 0 : again, again !== -1);
  }

  function showRecent() {
    const queries = recentSearches();
    const rows = recentRows(queries);
    for (const [at, row] of rows.entries())
      row.addEventListener('click', () => {
        input.value = queries[at];
        input.focus();
        ask(true);
      });
    groups = [];
    show(rows, rows, words.recent);
    say(rows.length === 0 ? '' : words.recent);
    if (rows.length === 0) return;
    more.replaceChildren(
      button(words.forget, () => {
        forgetSearches();
        more.replaceChildren();
        input.focus();
        showRecent();
      }),
    );
  }

  function show(nodes, rows, label) {
    options = rows;
    selected = -1;
    list.setAttribute('aria-label', label);
    list.replaceChildren(...nodes);
    list.hidden = rows.length === 0;
    input.setAttribute('aria-expanded', String(rows.length > 0));
    input.removeAttribute('aria-activedescendant');
  }

  function say(text) {
    if (status.textContent !== text) status.textContent = text;
  }

  function offer(sentence, query) {
    if (!query) return [];
    const offered = button(fill(sentence, { query }), () => {
      input.value = query;
      input.focus();
      ask(true);
    });
    return [offered];
  }

  function button(text, onClick) {
    const node = element('button', { dir: 'auto' }, text);
    node.addEventListener('click', onClick);
    return node;
  }

  function select(at, isScrolled = true) {
    options[selected]?.setAttribute('aria-selected', 'false');
    selected = at;
    const option = options[at];
    if (option === undefined) return;
    option.setAttribute('aria-selected', 'true');
    input.setAttribute('aria-activedescendant', option.id);
    if (isScrolled)
      (at === 0 ? (option.previousElementSibling ?? option) : option).scrollIntoView({ block: 'nearest' });
  }

  function follow(isNewTab) {
    awaited = null;
    const option = options[selected];
    if (option === undefined) return;
    if (isNewTab && option.href) {
      remember();
      window.open(option.href, '_blank', 'noopener');
    } else option.click();
  }

  const remember = () => rememberSearch(input.value.trim());

  function onKey(event) {
    // Keep the key in the dialog, because the page can have its own keyboard shortcuts.
    event.stopPropagation();
    if (event.type !== 'keydown' || event.isComposing || event.target !== input) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && options.length > 0) {
      event.preventDefault();
      isTouched = true;
      select((selected + step + options.length) % options.length);
    }
    if (event.key !== 'Enter') return;
    event.preventDefault();
    const isNewTab = event.ctrlKey || event.metaKey;
    if (input.value.trim() !== '' && !isAnswered) awaited = isNewTab;
    else follow(isNewTab);
  }

  for (const type of ['keydown', 'keypress', 'keyup']) dialog.addEventListener(type, onKey);
  input.addEventListener('input', () => ask(false));
  const giveFocusBack = () => {
    from?.focus({ preventScroll: true });
    from = null;
  };
  /** Closes the dialog, and returns the focus immediately, because the next key could otherwise still type into the dialog. */
  const close = () => {
    dialog.close();
    giveFocusBack();
  };
  closer.addEventListener('click', close);
  // Close the dialog on Escape, and on the back gesture of a phone.
  dialog.addEventListener('cancel', (event) => {
    event.preventDefault();
    close();
  });
  // Clean up here, because the browser can close the dialog by itself. The event can also arrive after the dialog is open again.
  dialog.addEventListener('close', () => {
    if (dialog.open) return;
    visualViewport.removeEventListener('resize', fitWindow);
    questions.forget();
    giveFocusBack();
  });
  dialog.addEventListener('pointerdown', (event) => {
    const { left, right, top, bottom } = dialog.getBoundingClientRect();
    const isInside = event.clientX >= left && event.clientX <= right && event.clientY >= top && event.clientY <= bottom;
    if (event.target === dialog && !isInside) close();
  });
  // Keep the focus in the search field while the reader scrolls and taps, so that a phone keeps its keyboard.
  list.addEventListener('mousedown', (event) => event.preventDefault());
  list.addEventListener('pointermove', (event) => {
    const at = options.indexOf(event.target.closest('[role=option]'));
    if (at !== -1 && at !== selected) select(at, false);
  });
  list.addEventListener('click', (event) => {
    const link = event.target.closest('a');
    if (link === null) return;
    remember();
    // Close the dialog first, because the browser caches the page for the back button.
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) close();
  });
  /** Makes the dialog fill the screen of a phone above its keyboard, even on a page that is not made for phones and appears small. */
  const fitWindow = () => {
    const { width, height, scale } = visualViewport;
    const zoom = Math.max(1, 1 / scale);
    host.style = `zoom:${zoom};--width:${width / zoom}px;--height:${height / zoom}px`;
    dialog.classList.toggle('full', zoom > 1 || matchMedia('(max-width: 40rem), (max-height: 30rem)').matches);
  };

  return {
    language,
    show(focusBack, query) {
      if (dialog.open) {
        input.focus();
        input.select();
        return;
      }
      from = focusBack;
      // Read the facts of the page again, because a single-page site can show a page of another version.
      if (shownOn !== location.pathname) {
        own = pageFacts();
        for (const key of ['language', 'version']) filters.choose(key);
      }
      shownOn = location.pathname;
      dialog.classList.toggle('dark', isDarkPage());
      if (!host.isConnected) document.body.append(host);
      fitWindow();
      visualViewport.addEventListener('resize', fitWindow);
      dialog.showModal();
      input.focus();
      if (query !== '') input.value = query;
      else input.select();
      ask(true);
    },
    /** Removes the dialog. @returns the typed text */
    close() {
      from = null;
      dialog.close();
      host.remove();
      return input.value;
    },
  };
}
