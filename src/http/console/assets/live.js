/** Updates the page whenever the server reports a change. Focus, open details and typed text stay. */

const { events } = document.querySelector('script[data-events]').dataset;
/** Milliseconds between a change and the request for the page, because changes often come in groups. */
const PAUSE_MS = 300;

const HTML = { headers: { Accept: 'text/html' } };

let timer = 0;
let isAsking = false;
let isStale = false;
/** True if the page must not change, because the server shows its content only once. */
let isStill = false;

function changed() {
  isStale = true;
  if (timer === 0 && !isAsking && !isStill && !document.hidden) timer = setTimeout(() => void update(), PAUSE_MS);
}

async function update() {
  timer = 0;
  isStale = false;
  isAsking = true;
  const { href } = location;
  try {
    const answer = await fetch(href, HTML);
    const next = await read(answer);
    // Ignore the response if a form was sent during this request, because the page already shows a newer state.
    if (answer.ok && href === location.href && !isStill) show(next);
  } catch {
    // Ignore the error, because the event stream reports when the daemon is available again.
  } finally {
    isAsking = false;
    if (isStale) changed();
  }
}

const read = async (answer) => new DOMParser().parseFromString(await answer.text(), 'text/html');

/** Shows another state of the page. @param first selector of the element to focus. Without it, an element around the old focus gets it */
function show(next, first) {
  const around = placesAround(document.activeElement);
  document.title = next.title;
  // Update the header, because it shows whether the operator is signed in.
  for (const part of ['header', 'main']) {
    const [old, other] = [document.querySelector(part), next.querySelector(part)];
    if (old !== null && other !== null) morph(old, other);
  }
  offerAll();
  if (document.activeElement !== document.body) return;
  const place = (first && document.querySelector(first)) ?? around.find((each) => each.isConnected);
  if (!place) return;
  if (!place.hasAttribute('tabindex')) place.tabIndex = -1;
  place.focus();
}

/** Returns the row, the sections and the page that contain the focused element, nearest first. */
function placesAround(element) {
  if (element === null || element === document.body) return [];
  const places = [];
  for (let at = element.closest(AROUND); at !== null; at = at.parentElement.closest(AROUND))
    places.push(at.querySelector('th, h1, h2') ?? at);
  return [...places, document.querySelector('main')];
}

const AROUND = 'tr, section, form';

const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE && node.id ? node.id : null);

/** Updates `old` to match `next`, and reuses elements. */
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
 * Inserts a child and returns the next one. Reinserting a focused child would lose the focus, so then the children before it move to the end.
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

/** Attributes that an update must keep, because the operator sets them by opening details or typing text. */
const OWN = new Set(['aria-busy', 'open', 'value', 'checked', 'selected', 'autofocus', 'tabindex']);

function alike(old, next) {
  for (const { name, value } of [...next.attributes]) {
    if (!OWN.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) if (!OWN.has(name) && !next.hasAttribute(name)) old.removeAttribute(name);
  if (old.type === 'hidden') old.value = next.value;
}

/** Revisions of the state that the page shows. Only pages of jobs have the revision `jobs`. */
const shown = { ...document.body.dataset };
let source = null;
const LISTEN_MS_MIN = 3_000;
const LISTEN_MS_MAX = 60_000;
let pauseMs = LISTEN_MS_MIN;

function listen() {
  if (isStill) return;
  source = new EventSource(events);
  source.addEventListener('open', () => {
    pauseMs = LISTEN_MS_MIN;
  });
  for (const topic of 'jobs' in shown ? ['state', 'jobs'] : ['state'])
    source.addEventListener(topic, ({ data }) => {
      if (data !== shown[topic]) changed();
      shown[topic] = data;
    });
  source.addEventListener('error', () => {
    // The browser reconnects after the end of a connection, but not after a response that is no stream.
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(listen, pauseMs);
    pauseMs = Math.min(2 * pauseMs, LISTEN_MS_MAX);
  });
}
listen();

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

/** Sends a form without leaving the page, so that the focus stays. */
async function send(form) {
  try {
    const answer = await fetch(form.action, { ...HTML, method: 'POST', body: new URLSearchParams(new FormData(form)) });
    if (answer.redirected && new URL(answer.url).pathname !== location.pathname) return location.assign(answer.url);
    const next = await read(answer);
    if (answer.redirected) history.replaceState(null, '', answer.url);
    else stay();
    show(next, '#message');
  } catch {
    // The result is unknown, so load the page again instead of sending the form twice.
    location.reload();
  }
}

/** Filters the list while the operator types, without a new entry in the history. */
document.addEventListener('input', ({ target }) => {
  const form = target.form;
  if (!form?.hasAttribute('data-live')) return;
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== '')).toString();
  history.replaceState(null, '', `${form.action.replace(/[?#].*/, '')}${query === '' ? '' : `?${query}`}`);
  changed();
});

/** Shows the checkboxes that select all rows. Without this script, they stay hidden, because they have no effect. */
function offerAll() {
  for (const box of document.querySelectorAll('input[data-all]')) {
    box.parentElement.hidden = false;
    box.onchange = () => {
      for (const each of document.getElementsByName(box.dataset.all)) each.checked = box.checked;
    };
  }
}
offerAll();

function stay() {
  isStill = true;
  source.close();
}

export {};
