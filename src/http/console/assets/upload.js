/** Uploads the selected or dropped archives one after the other, each with its signature. */

const SIGNATURE = '.minisig';
const form = document.querySelector('form.upload');
const list = document.querySelector('ol.uploads');

if (form !== null && list !== null) {
  const waiting = [];
  let isBusy = false;

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    add([...form.elements.namedItem('signature').files, ...form.elements.namedItem('bundle').files]);
    for (const name of ['signature', 'bundle']) form.elements.namedItem(name).value = '';
  });
  for (const type of ['dragover', 'dragleave', 'drop']) {
    document.addEventListener(type, (event) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      form.classList.toggle('over', type === 'dragover');
      if (type === 'drop') add([...event.dataTransfer.files]);
    });
  }
  addEventListener('beforeunload', (event) => {
    if (isBusy) event.preventDefault();
  });

  function add(files) {
    const signatures = files.filter(({ name }) => name.endsWith(SIGNATURE));
    const archives = files.filter((file) => !signatures.includes(file));
    for (const file of archives) {
      const own = signatures.find(({ name }) => name === file.name + SIGNATURE);
      const signature = own ?? (archives.length === 1 ? signatures[0] : undefined);
      waiting.push({ file, signature, row: rowOf(file) });
    }
    next();
  }

  function next() {
    const upload = isBusy ? undefined : waiting.shift();
    if (upload !== undefined) send(upload);
  }

  function send({ file, signature, row }) {
    const body = new FormData();
    for (const name of ['formToken', 'version']) body.append(name, form.elements.namedItem(name).value);
    if (form.elements.namedItem('activate').checked) body.append('activate', 'true');
    if (signature !== undefined) body.append('signature', signature);
    body.append('bundle', file);
    const request = new XMLHttpRequest();
    const end = (text, problem) => {
      isBusy = false;
      tell(row, text, problem);
      next();
    };
    isBusy = true;
    row.state.textContent = 'Sending';
    row.cancel.onclick = () => request.abort();
    request.upload.onprogress = ({ loaded, total }) => {
      row.bar.value = loaded / total;
      row.state.textContent = loaded < total ? `${Math.floor((loaded / total) * 100)} % sent` : 'Importing';
    };
    request.onload = () => {
      const answer = parsed(request.responseText);
      if (Array.isArray(answer)) end(answer[0].text, answer[0].problem);
      else
        end(
          `${file.name} was not imported`,
          answer ?? {
            error: `The daemon responded with status ${request.status}.`,
            next: 'Check the log of the daemon, then upload the file again.',
          },
        );
    };
    request.onerror = () =>
      end(`${file.name} was not imported`, { error: 'The connection was lost.', next: 'Upload the file again.' });
    request.onabort = () => end(`${file.name} was canceled`, null);
    request.open('POST', form.action);
    request.setRequestHeader('Accept', 'application/json');
    request.send(body);
  }

  function parsed(text) {
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  }

  function rowOf({ name }) {
    const row = { item: document.createElement('li') };
    for (const [key, tag] of Object.entries({ name: 'strong', bar: 'progress', state: 'span', cancel: 'button' }))
      row[key] = row.item.appendChild(document.createElement(tag));
    row.item.className = 'card';
    row.name.textContent = name;
    row.bar.value = 0;
    row.bar.setAttribute('aria-label', `Upload progress of ${name}`);
    row.state.textContent = 'Waiting';
    row.state.setAttribute('role', 'status');
    row.cancel.type = 'button';
    row.cancel.textContent = 'Cancel';
    row.cancel.setAttribute('aria-label', `Cancel ${name}`);
    row.cancel.onclick = () => {
      const at = waiting.findIndex((upload) => upload.row === row);
      if (at >= 0) waiting.splice(at, 1);
      tell(row, `${name} was canceled`, null);
    };
    list.prepend(row.item);
    return row;
  }

  function tell({ item, name, bar, state, cancel }, text, problem) {
    const hadFocus = document.activeElement === cancel;
    for (const gone of [name, bar, cancel]) gone.remove();
    item.classList.add('alert', problem === null ? 'good' : 'bad');
    const told = [
      ['strong', text],
      ['p', problem?.error],
      ['p', problem?.next && `Next: ${problem.next}`],
      ['a', problem?.code],
    ].filter(([, line]) => line);
    state.replaceChildren(
      ...told.map(([tag, line]) => {
        const element = document.createElement(tag);
        element.textContent = line;
        if (tag === 'a') element.href = `${document.querySelector('.brand').href}manual/errors#${line}`;
        return element;
      }),
    );
    item.tabIndex = -1;
    if (hadFocus) item.focus();
  }
}

export {};
