// All that a reader pays who never searches: the button, its place and the keys. Under 1 KB compressed, so every word counts here.
// `LABELS` comes from the build: the button's word in each language but English. So does `REPLACES`, true in `replacing.js`.

const NAME = 'docshelf-search';
/** Made for it by a site's template. */
const ROOM = '[data-docshelf-search]';
const HEADERS = '.navbar__items--right>*,.VPNavBarMenu,.right-group>*';
/** Boxes of the site's own, a list of selectors. */
const REPLACED = REPLACES && document.querySelector('script[data-replace]').dataset.replace;
let host;
let beside;
let timer;
let tries = 0;

const load = () => import('./search-box.js');

/** What is typed before the dialog is there is not lost, and a phone shows its keyboard. */
const open = async (from) => {
  const typed = document.createElement('input');
  typed.style = 'position:fixed;opacity:0';
  document.body.append(typed);
  typed.focus();
  (await load()).open(from, typed);
};

const build = () => {
  if (host.shadowRoot) return;
  const button = document.createElement('button');
  button.style =
    'white-space:pre;background:inherit;color:inherit;font:inherit;border:1px solid;border-radius:6px;padding:4px 9px';
  if (REPLACES) button.style.flex = '1 0 auto';
  host.attachShadow({ mode: 'open' }).append(button);
  button.append(LABELS[document.documentElement.lang.slice(0, 2)] ?? 'Search');
  button.onpointerenter = button.onfocus = load;
  button.onclick = () => open(button);
};

/** React and Vue compare a page with their own before it is theirs, and complain of what they do not know. */
const isReady = (node) => {
  const app = node.closest('[id^=__],#app');
  return (app ? app.__vue_app__ : !self.__next_f) || Object.keys(node)[0] || ++tries > 60;
};

/** Takes no room in a header, and no gap: the button hangs out towards the start, and nothing moves. */
const place = () => {
  timer = 0;
  // One that is there and was not put there by this script is the template's own.
  host = document.querySelector(NAME) ?? document.createElement(NAME);
  build();
  if (host.isConnected && (!beside || (beside.isConnected && host.getClientRects()[0]))) return;
  const nodes = document.querySelectorAll(`${ROOM},${HEADERS}`);
  for (const node of REPLACES
    ? [...document.querySelectorAll(ROOM), ...document.querySelectorAll(REPLACED), ...nodes]
    : nodes)
    if (node.getClientRects()[0]) {
      if (!isReady(node)) return soon();
      host.style = `display:grid;width:0;height:0;align-self:center;place-content:center end;position:relative;inset-inline-end:1em;margin-inline-end:-${getComputedStyle(node.parentNode).columnGap}`;
      if (REPLACES && node.matches(REPLACED))
        host.style = `display:flex;place-content:end;align-items:center;position:absolute;left:${node.offsetLeft}px;top:${node.offsetTop}px;width:${node.offsetWidth}px;height:${node.offsetHeight}px`;
      if (node.matches(ROOM)) {
        host.style = '';
        node.append(host);
      } else node.before(host);
      beside = node;
      return;
    }
  // By the window: on a phone what is fixed is fixed to all of a page that is wider, whose corner is out of sight.
  host.style =
    'display:grid;width:0;height:0;place-content:end;position:fixed;top:98dvh;inset-inline-start:98vw;z-index:9;background:#000;color:#fff';
  beside = document.body;
  beside.append(host);
};
const soon = () => {
  if (!timer) timer = setTimeout(place, 99);
};

addEventListener(
  'keydown',
  (event) => {
    const { key, code } = event;
    if (
      event.ctrlKey || event.metaKey
        ? key === 'k' || (code === 'KeyK' && key > '~')
        : key === '/' && !event.composedPath()[0].matches('select,:read-write')
    ) {
      event.preventDefault();
      event.stopPropagation();
      open(document.activeElement);
    }
  },
  true,
);
if (REPLACES) {
  // Theirs are gone to the eye and to keys before anybody reaches for one, and where scripts write the header anew.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`:is(${REPLACED}),:is(${REPLACED}) *{visibility:hidden!important}`);
  document.adoptedStyleSheets.push(sheet);
  addEventListener('resize', () => {
    if (beside) beside = sheet;
    soon();
  });
}
(self.requestIdleCallback ?? setTimeout)(() => {
  place();
  new MutationObserver(soon).observe(document, { childList: 1, subtree: 1 });
});
