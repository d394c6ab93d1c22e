// Loaded before the body, so that a chosen theme holds from the first paint.
const root = document.documentElement;
const NAMES = { light: 'light', dark: 'dark', system: 'same as the system' };
const ICONS = {
  light:
    'M10 3v2m0 10v2m7-7h-2M5 10H3m11.9-4.9-1.4 1.4M6.5 13.5l-1.4 1.4m9.8 0-1.4-1.4M6.5 6.5 5.1 5.1M13 10a3 3 0 1 1-6 0 3 3 0 0 1 6 0Z',
  dark: 'M16.5 11.7A6.800 6.800 0 0 1 8.3 3.5a6.800 6.800 0 1 0 8.200 8.200Z',
  system: 'M3.5 4.5h13v9h-13zM7.5 16.5h5M10 13.5v3',
};

function storedTheme() {
  try {
    const theme = localStorage.getItem('theme');
    return theme === 'light' || theme === 'dark' ? theme : 'system';
  } catch {
    return 'system'; // Storage may be denied: the system's theme is a good one.
  }
}

function applyTheme(theme) {
  if (theme === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme;
}

function startThemeButton(button) {
  const order = ['system', 'light', 'dark'];
  const show = (theme) => {
    button.innerHTML = `<svg viewBox="0 0 20 20" aria-hidden="true"><path d="${ICONS[theme]}"/></svg>`;
    button.setAttribute('aria-label', `Colours: ${NAMES[theme]}`);
    button.title = `Colours: ${NAMES[theme]}`;
  };
  show(storedTheme());
  button.hidden = false;
  button.addEventListener('click', () => {
    const theme = order[(order.indexOf(storedTheme()) + 1) % order.length];
    try {
      localStorage.setItem('theme', theme);
    } catch {
      // Not kept beyond this page, but applied.
    }
    applyTheme(theme);
    show(theme);
  });
}

function startCopyButton(block) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(block.querySelector('code').textContent);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Not allowed';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1600);
  });
  block.append(button);
}

// Marks the heading that the reader is at: the last one above the upper third of the window.
function startContents(links) {
  const entries = links.map((link) => [link, document.getElementById(decodeURIComponent(link.hash.slice(1)))]);
  const mark = () => {
    const passed = entries.filter(([, heading]) => heading.getBoundingClientRect().top < innerHeight / 3);
    const atEnd = innerHeight + scrollY >= root.scrollHeight - 2;
    const [current] = (atEnd ? entries : passed).at(-1) ?? entries[0];
    for (const [link] of entries) link.toggleAttribute('data-current', link === current);
  };
  addEventListener('scroll', () => requestAnimationFrame(mark), { passive: true });
  mark();
}

applyTheme(storedTheme());
addEventListener('DOMContentLoaded', () => {
  startThemeButton(document.querySelector('button.theme'));
  for (const block of document.querySelectorAll('.code:not([data-language="text"])')) startCopyButton(block);
  const links = [...document.querySelectorAll('.contents a')];
  if (links.length > 0) startContents(links);
});
