/** Brings the page to what the server shows now, whenever it says that something has changed. Focus, open details and typed text stay. */

const { events } = document.querySelector('script[data-events]').dataset;
/** Changes come in crowds. */
const PAUSE_MS = 300;

const HTML = { headers: { Accept: 'text/html' } };

let timer = 0;
let isAsking = false;
let isStale = false;

function changed() {
  isStale = true;
  if (timer === 0 && !isAsking && !document.hidden) timer = setTimeout(() => void update(), PAUSE_MS);
}

async function update() {
  timer = 0;
  isStale = false;
  isAsking = true;
  const { href } = location;
  try {
    const answer = await fetch(href, HTML);
    const next = await read(answer);
    // A form that was sent meanwhile has brought what is newer.
    if (answer.ok && href === location.href) show(next);
  } catch {
    // The stream says when the daemon is back.
  } finally {
    isAsking = false;
    if (isStale) changed();
  }
}

const read = async (answer) => new DOMParser().parseFromString(await answer.text(), 'text/html');

function show(next) {
  document.title = next.title;
  const [main, other] = [document.querySelector('main'), next.querySelector('main')];
  if (main !== null && other !== null) morph(main, other);
}

const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE && node.id ? node.id : null);

/** Makes `old` alike to `next`, and keeps each element that is still there. */
function morph(old, next) {
  alike(old, next);
  const kept = new Map();
  for (const child of old.childNodes) if (keyOf(child) !== null) kept.set(child.id, child);
  let at = old.firstChild;
  for (const wanted of [...next.childNodes]) {
    const key = keyOf(wanted);
    const same = key === null ? (fits(at, wanted) ? at : null) : (kept.get(key) ?? null);
    if (same === null) {
      old.insertBefore(document.importNode(wanted, true), at);
      continue;
    }
    at = bring(old, same, at);
    if (same.nodeType === Node.ELEMENT_NODE) {
      if (!same.hasAttribute('data-own')) morph(same, wanted);
    } else if (same.data !== wanted.data) same.data = wanted.data;
  }
  while (at !== null) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

/**
 * Puts a child before another, and gives the one that follows it. Taken out and put in again it would lose the focus: where it has
 * that, those between go to the end instead.
 */
function bring(parent, child, before) {
  if (child === before) return child.nextSibling;
  if (!child.contains(document.activeElement)) {
    parent.insertBefore(child, before);
    return before;
  }
  let between = before;
  while (between !== child) {
    const next = between.nextSibling;
    parent.append(between);
    between = next;
  }
  return child.nextSibling;
}

const fits = (node, wanted) => node !== null && keyOf(node) === null && node.nodeName === wanted.nodeName;

/** What the reader has opened or typed is theirs. */
const OWN = new Set(['aria-busy', 'open', 'value', 'checked', 'selected', 'autofocus']);

function alike(old, next) {
  for (const { name, value } of [...next.attributes]) {
    if (!OWN.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) if (!OWN.has(name) && !next.hasAttribute(name)) old.removeAttribute(name);
  if (old.type === 'hidden') old.value = next.value;
}

const source = new EventSource(events);
let shown = document.body.dataset.state;
source.addEventListener('state', ({ data }) => {
  if (data !== shown) changed();
  shown = data;
});
document.addEventListener('visibilitychange', () => {
  if (isStale) changed();
});

const sending = new WeakSet();
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (event.defaultPrevented || !form.hasAttribute('data-stays')) return;
  event.preventDefault();
  if (sending.has(form)) return;
  sending.add(form);
  form.ariaBusy = 'true';
  void send(form).finally(() => {
    sending.delete(form);
    form.ariaBusy = null;
  });
});

/** As the browser would, without leaving the page: focus stays, and goes to the message where its place is gone. */
async function send(form) {
  try {
    const answer = await fetch(form.action, { ...HTML, method: 'POST', body: new URLSearchParams(new FormData(form)) });
    if (answer.redirected && new URL(answer.url).pathname !== location.pathname) return location.assign(answer.url);
    const next = await read(answer);
    if (answer.redirected) history.replaceState(null, '', answer.url);
    // The page of a problem, which stays until it is left.
    else source.close();
    show(next);
    if (document.activeElement === document.body) document.querySelector('#said')?.focus();
  } catch {
    // Whether it was done is not known, so it is not sent again: the page says what there is.
    location.reload();
  }
}

/** While a job runs: its progress is no part of the state. */
const LOOK_MS = 2_000;
setInterval(() => {
  if (document.querySelector('main [data-moving]') !== null) changed();
}, LOOK_MS);

export {};
