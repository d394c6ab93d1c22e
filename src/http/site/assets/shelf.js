// Without this script, the form sends a request, and the server hides the sites that do not match.
const form = document.querySelector('form');
const box = document.querySelector('#q');
const status = document.querySelector('#status');
const found = document.querySelector('#found');
const results = document.querySelector('#results');

const SEARCH_AFTER_MS = 150;
const RESULTS_MAX = 30;

// The server has the same function (shelf.ts).
const fold = (text) => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
const texts = JSON.parse(form?.dataset.words ?? '{}');
const fill = (sentence, numbers) => sentence.replaceAll(/\{(\w+)\}/g, (_, name) => numbers[name]);

const sites = [...document.querySelectorAll('#sites > li')].map((item) => {
  const address = item.querySelector('a')?.getAttribute('href') ?? null;
  const shown = [...item.querySelectorAll('h2, p:not(.state), dd')].map((part) => part.textContent);
  return {
    item,
    domain: item.dataset.domain,
    title: item.querySelector('h2').textContent,
    // Origin of the site. Empty if the site is on this host.
    hostAddress: address && (/^(?:https?:)?\/\/[^/]+/.exec(address)?.[0] ?? ''),
    text: fold([item.dataset.domain, ...shown].join(' ')),
  };
});
const siteOf = new Map(sites.map((site) => [site.domain, site]));

/** Hides the sites that do not match. @returns text for the status line */
function filter(query) {
  const words = fold(query).split(/\s+/).filter(Boolean);
  let count = 0;
  for (const { item, text } of sites) {
    const isShown = words.every((word) => text.includes(word));
    if (isShown) count += 1;
    if (item.hidden === isShown) item.hidden = !isShown;
  }
  return fill(query === '' ? texts.sites : texts.matching, { count, total: sites.length });
}

/** Returns an address on the host of the site, whatever the path contains. */
const addressOf = (site, path) => `${site.hostAddress}/${path.replace(/^[/\\]+/, '')}`;

function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className !== '') made.className = className;
  made.append(...children);
  return made;
}

/** Shows either code or prose: the code block of the first hit, or the text around this hit, up to the next code block. */
function excerpt(text, { highlights, code = [] }) {
  const first = highlights[0]?.start ?? 0;
  const block = code.find(({ start, end }) => first >= start && first < end);
  const before = code.findLast(({ end }) => end <= first)?.end ?? 0;
  const until = block?.end ?? code.find(({ start }) => start > first)?.start ?? text.length;
  const near = first - before > 120 ? Math.max(before, text.lastIndexOf(' ', first - 60) + 1) : before;
  const from = block === undefined ? near : Math.max(block.start, text.lastIndexOf('\n', first - 1) + 1);
  const parts = from === 0 || block !== undefined ? [] : ['… '];
  let at = from;
  for (const { start, end } of highlights) {
    if (start < at || end > until) continue;
    parts.push(text.slice(at, start), element('mark', '', text.slice(start, end)));
    at = end;
  }
  const rest = text.slice(at, Math.min(at + 300, until)).trimEnd();
  if (block !== undefined) {
    const lines = element('pre', 'text', element('code', '', ...parts, rest));
    lines.dir = 'ltr';
    return lines;
  }
  const isCut = at + 300 < until;
  return element('p', 'text', ...parts, isCut ? `${rest.replace(/\s\S{0,40}$/, '')} …` : rest);
}

function resultItem(site, { content, path, metadata }) {
  const link = element('a', '', metadata.title);
  link.href = addressOf(site, path);
  const headings = metadata.headings.filter((heading) => heading !== metadata.title);
  const place = headings.length === 0 ? [] : [element('p', 'place', headings.join(' › '))];
  const item = element('li', '', link, ...place, excerpt(content, metadata));
  item.dir = 'auto';
  if (/^[a-z]{2,3}(-[a-z0-9]{1,8})*$/i.test(metadata.language)) item.lang = metadata.language;
  return item;
}

function showResults(list) {
  const bySite = new Map();
  let count = 0;
  for (const result of list) {
    const site = siteOf.get(result.site);
    if (site === undefined || site.hostAddress === null) continue;
    if (!bySite.has(site)) bySite.set(site, []);
    bySite.get(site).push(resultItem(site, result));
    count += 1;
  }
  const groups = [...bySite].flatMap(([site, items]) => [element('h3', '', site.title), element('ol', '', ...items)]);
  results.replaceChildren(...groups);
  found.hidden = count === 0;
  return count === 0 ? texts.noneFound : fill(texts.found, { count });
}

const FAULTS = new Map([
  [429, texts.busy],
  [503, texts.notReady],
]);

let asked = new AbortController();
let timer = 0;

async function search(query, ofSites, { signal }) {
  let outcome;
  try {
    const parameters = new URLSearchParams({ q: query, limit: RESULTS_MAX });
    const response = await fetch(`${form.dataset.search}?${parameters}`, { signal });
    const list = response.ok ? await response.json() : [];
    // Ignore the response to a previous question.
    if (signal.aborted) return;
    outcome = showResults(list);
    if (!response.ok) outcome = FAULTS.get(response.status) ?? texts.away;
  } catch {
    if (signal.aborted) return;
    showResults([]);
    outcome = texts.away;
  }
  status.textContent = `${ofSites} · ${outcome}`;
}

function update() {
  const query = box.value.trim();
  const ofSites = filter(query);
  asked.abort();
  asked = new AbortController();
  clearTimeout(timer);
  timer = setTimeout(() => {
    // Keep the query in the address, so that a reload or the back button shows it again.
    history.replaceState(null, '', query === '' ? location.pathname : `?${new URLSearchParams({ q: query })}`);
    status.textContent = ofSites;
    if (query !== '' && found !== null) void search(query, ofSites, asked);
  }, SEARCH_AFTER_MS);
  if (query === '' && found !== null) showResults([]);
}

if (form !== null) {
  if (found !== null) document.querySelector('label').textContent = texts.searchAll;
  form.querySelector('button').hidden = true;
  box.setAttribute('aria-keyshortcuts', '/');
  box.addEventListener('input', update);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    update();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target === box) return;
    event.preventDefault();
    box.focus();
    box.select();
  });
  // A reader can type before the script runs, and the browser can restore earlier text.
  if (box.value !== '') update();
}
