// The build writes `WORDS` by language, `STYLE` and `ON_PAGES`, the selector of the host, before this file (site-assets.ts).

const NAME = 'docshelf-versions';
const { version, active = version } = document.querySelector('script[src*="_docshelf/assets/switcher-"]').dataset;
const base = new URL('../../../', import.meta.url);
const own = version === active ? base : new URL(`_docshelf/v/${version}/`, base);

const keyOf = (tag) => {
  try {
    const { language, script } = new Intl.Locale(tag.replaceAll('_', '-')).maximize();
    return `${language} ${script}`;
  } catch {
    return null;
  }
};
const wanted = keyOf(document.documentElement.lang);
const tag = Object.keys(WORDS).find((each) => keyOf(each) === wanted) ?? 'en';
const words = WORDS[tag];
const fill = (sentence, label) => sentence.replace('{version}', label);

/** Creates an element without parsing markup, so that pages that enforce Trusted Types accept it. */
const element = (name, attributes, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

/** Returns the address of the current page in another version. Reads the location, because scripts can show another page. */
const addressIn = (label) => {
  const { pathname, hash } = location;
  if (label === version) return pathname + hash;
  const path = pathname.startsWith(own.pathname) ? pathname.slice(own.pathname.length) : '';
  const from = encodeURIComponent(version);
  return `${base.pathname}_docshelf/v/${label}/${path}?docshelf-from=${from}${hash}`;
};

const summary = element('summary', {}, fill(words.version, version));
const list = element('ul', { 'aria-label': words.list });
const details = element('details', {}, summary, list);
const links = new Map();

const renew = () => {
  for (const [link, label] of links) link.href = addressIn(label);
};

const row = ({ version: label, title, aliases }) => {
  const isOwn = [label, ...aliases].includes(version);
  const link = element(
    'a',
    isOwn ? { 'aria-current': 'true' } : {},
    label === active ? `${title} (${words.active})` : title,
  );
  links.set(link, isOwn ? version : label);
  return element('li', {}, link);
};

let isAsked = false;
const show = async () => {
  if (isAsked) return;
  isAsked = true;
  try {
    const answer = await fetch(new URL('_docshelf/versions.json', base));
    list.replaceChildren(...(await answer.json()).map(row));
    renew();
  } catch {
    isAsked = false;
    list.replaceChildren(element('li', {}, words.away));
  }
};

const host = document.querySelector(NAME) ?? document.createElement(NAME);
const notice = [...host.querySelectorAll('p')];
host.setAttribute('role', 'navigation');
host.setAttribute('aria-label', words.list);
host.lang = tag;
const adopt = (root, style) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
};
const shadow = host.attachShadow({ mode: 'open' });
adopt(shadow, STYLE);
// Add the style to the page also, because rules of the page take precedence over rules of a shadow root for its host.
adopt(document, STYLE.replaceAll(':host', ON_PAGES));
// Put the links into the shadow root, because routers of sites handle all links of the document.
shadow.append(...notice, details);

const lead = shadow.querySelector('p a');
if (lead) links.set(lead, active);
for (const event of ['pointerdown', 'focusin', 'click']) shadow.addEventListener(event, renew);
summary.addEventListener('pointerenter', show);
details.addEventListener('toggle', () => {
  if (!details.open) return;
  void show();
  renew();
});
host.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || !details.open) return;
  event.stopPropagation();
  details.open = false;
  summary.focus();
});
addEventListener('pointerdown', (event) => {
  if (!event.composedPath().includes(host)) details.open = false;
});
// Insert the switcher again if a script of the site replaces the body.
const place = () => {
  if (!host.isConnected) document.body?.append(host);
};
place();
new MutationObserver(place).observe(document, { childList: true, subtree: true });
