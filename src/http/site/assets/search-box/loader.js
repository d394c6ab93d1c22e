// Every page loads this file, so keep it under 1.25 KiB compressed. The build writes three files from it: `REPLACES` is true in `replacing.js`,
// for pages whose own box it replaces. `LABELS` is null except in `by-hand.js`: the button's word in each language but English.

const page = document;
/** Settings of the script element. `replace` is a selector list of the site's own search boxes. */
const { label, replace } = { ...page.querySelector('[src*="_docshelf/assets/search-box"]')?.dataset };
const NAME = 'docshelf-search';
/** Element that a template of the site provides for the button. */
const ROOM = '[data-docshelf-search]';
const HEADERS = '.navbar__items--right>*,.VPNavBarMenu,.right-group>*';
const here = import.meta.url;
const KEY_K = 75;
let host;
let beside;
let timer;
let tries = 0;

const load = () => import('./search-box.js');

/** Opens the dialog. Until its code is loaded, an invisible field receives typed text, and makes a phone show its keyboard. */
const open = async (from) => {
  const typed = page.createElement('input');
  typed.style = 'position:fixed;opacity:0';
  page.body.append(typed);
  typed.focus();
  (await load()).open(from, typed);
};

const shown = (selector) => [...page.querySelectorAll(selector)].find((node) => node.getClientRects()[0]);

const place = () => {
  timer = 0;
  // An element of this name that this script did not insert belongs to the template.
  host = page.querySelector(NAME) ?? page.createElement(NAME);
  if (!host.shadowRoot) {
    // Build the same link that docshelf adds to pages for readers without scripts.
    const link = page.createElement('a');
    host.attachShadow({ mode: 'open' }).append(link);
    link.style = `white-space:pre;background:inherit;color:inherit;font:inherit;line-height:normal;text-decoration:none;border:1px solid;border-radius:6px;padding:4px 9px${REPLACES ? ';flex:1 0 auto' : ''}`;
    link.href = new URL('../../search', here);
    link.append((LABELS ? LABELS[page.documentElement.lang.slice(0, 2)] : label) ?? 'Search');
    link.onpointerenter = link.onfocus = load;
    link.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      void open(link);
    };
  }
  if (host.isConnected && (!beside || (beside.isConnected && host.getClientRects()[0]))) return;
  const room = REPLACES ? (shown(ROOM) ?? shown(replace) ?? shown(HEADERS)) : shown(`${ROOM},${HEADERS}`);
  // If the page has no place for the link, insert it before the first title, but never inside of another link.
  const node = room ?? shown('a:has(h1),h1,.headertitle') ?? shown('main>*') ?? shown('body>*');
  // Wait until React or Vue has started, because both compare the page with their own markup, and report unknown elements.
  const app = node?.closest('[id^=__],#app');
  if (node && (app ? !app.__vue_app__ : self.__next_f) && !Object.keys(node)[0] && ++tries < 60) return soon();
  beside = node ?? page.body;
  if (!node || node.matches(ROOM)) {
    host.style = '';
    return beside.append(host);
  }
  const { columnGap, display, flexDirection } = getComputedStyle(node.parentNode);
  if (room) {
    // Take no space in a header: the button extends towards the start of the line, and no other element moves.
    host.style =
      REPLACES && node.matches(replace)
        ? `display:flex;place-content:end;align-items:center;position:absolute;left:${node.offsetLeft}px;top:${node.offsetTop}px;width:${node.offsetWidth}px;height:${node.offsetHeight}px`
        : `display:grid;width:0;height:0;place-content:center end;position:relative;inset-inline-end:1em;align-self:center;margin-inline-end:-${columnGap}`;
    return node.before(host);
  }
  // Mark the link as a landmark, because it can be outside of the landmarks of the page.
  host.setAttribute('role', 'search');
  // Let the title flow around the link. In a row, the link is the last item. In a column or grid, it has its own line.
  host.style = `float:inline-end;margin:4px;position:relative;z-index:1;${display + flexDirection === 'flexrow' ? 'order:1;margin-inline-start:auto;align-self:center' : 'place-self:end;grid-column:1/-1'}`;
  node.before(host);
  // Move the link to the start of the line if the page is too wide for a phone, because the end of the line is then out of sight.
  const { left, right } = host.getBoundingClientRect();
  if (left < 0 || right > page.documentElement.clientWidth) host.style.float = 'inline-start';
};
const soon = () => {
  if (!timer) timer = setTimeout(place, 99);
};

addEventListener(
  'keydown',
  (event) => {
    if (
      event.ctrlKey || event.metaKey
        ? // Compare the code of the key, which does not depend on the alphabet of the keyboard.
          event.keyCode === KEY_K && !event.shiftKey
        : event.key === '/' && !event.composedPath()[0].matches('select,:read-write')
    ) {
      event.preventDefault();
      event.stopPropagation();
      void open(page.activeElement);
    }
  },
  true,
);
const sheet = new CSSStyleSheet();
sheet.replaceSync('@media print{docshelf-search{display:none!important}}');
page.adoptedStyleSheets.push(sheet);
if (REPLACES) {
  // Hide the site's own boxes with a style rule, because scripts of the site can write the header again.
  sheet.insertRule(`:is(${replace}),:is(${replace}) *{visibility:hidden!important}`);
  addEventListener('resize', () => {
    if (beside) beside = sheet;
    soon();
  });
}
new MutationObserver(soon).observe(page, { childList: 1, subtree: 1 });
soon();
