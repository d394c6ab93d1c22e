// Sends the calls that a reader tries on the page. The script stores a key only in its input field.

const base = new URL('./', location.href).href.replace(/\/$/, '');
const SHOWN_LENGTH_MAX = 200_000;

for (const each of document.querySelectorAll('[data-scripted]')) each.hidden = false;
for (const each of document.querySelectorAll('[data-curl]')) {
  each.textContent = each.textContent.replaceAll('$DOCSHELF_URL', base);
}

for (const form of document.querySelectorAll('form[data-method]')) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
}

async function send(form) {
  const [button, output, shown] = ['button', 'output', 'form > pre'].map((each) => form.querySelector(each));
  button.disabled = true;
  output.textContent = 'Sending …';
  try {
    const began = performance.now();
    const response = await fetch(addressOf(form), requestOf(form));
    const text = await textOf(response);
    output.textContent = `${response.status} ${response.statusText}, ${Math.round(performance.now() - began)} ms`;
    shown.textContent = text.slice(0, SHOWN_LENGTH_MAX);
    shown.hidden = text === '';
  } catch {
    output.textContent = 'The service did not respond. Check its address, then try again.';
    shown.hidden = true;
  } finally {
    button.disabled = false;
  }
}

function addressOf(form) {
  const query = new URLSearchParams();
  let path = form.dataset.path;
  for (const { name, value, dataset } of form.querySelectorAll('[data-in]')) {
    if (dataset.in === 'path') path = path.replace(`{${name}}`, () => encodeURIComponent(value));
    else if (value !== '') query.append(name, value);
  }
  return `${base}${path}${query.size === 0 ? '' : `?${query}`}`;
}

function requestOf(form) {
  const { method, type, key } = form.dataset;
  const { body } = form.elements;
  const typed = key === undefined ? '' : document.getElementById(key).value.trim();
  return {
    method,
    credentials: 'omit',
    headers: {
      ...(typed === '' ? {} : { Authorization: `Bearer ${typed}` }),
      ...(type === undefined ? {} : { 'Content-Type': type }),
    },
    ...(body === undefined ? {} : { body: body.type === 'file' ? body.files[0] : body.value }),
  };
}

async function textOf(response) {
  const type = response.headers.get('content-type') ?? '';
  if (/[/+]json\b/.test(type)) return JSON.stringify(await response.json(), null, 2);
  if (type === '' || type.startsWith('text/')) return response.text();
  const { size } = await response.blob();
  return `${size} ${size === 1 ? 'byte' : 'bytes'} of ${type}`;
}
